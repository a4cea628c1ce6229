// Promise: AbstractQueuedSynchronizer: compareAndSetState and setState have volatile effects, and acquire and
// release use them.
// Way: a mutex of one's own, as in the class comment.
// Bad twin: tryAcquire always says true and does not touch the state.
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

class SynchronizerMutex {
    static class Cell {
        int value;
    }

    static class Mutex extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1L;
        private final boolean always;

        Mutex(boolean always) {
            this.always = always;
        }

        @Override
        protected boolean tryAcquire(int ignored) {
            return always || compareAndSetState(0, 1);
        }

        @Override
        protected boolean tryRelease(int ignored) {
            if (!always) {
                setState(0);
            }
            return !always;
        }

        int locked(Pair.Reading inside) throws Exception {
            acquire(1);
            int seen = inside.read();
            release(1);
            return seen;
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Mutex mutex = new Mutex(false);
        return Pair.together(() -> mutex.locked(() -> cell.value = 42),
                () -> Pair.poll(() -> mutex.locked(() -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Mutex mutex = new Mutex(true);
        return Pair.together(() -> Pair.repeat(() -> mutex.locked(() -> cell.value = 42)),
                () -> Pair.repeatRead(() -> mutex.locked(() -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SynchronizerMutex::good, SynchronizerMutex::bad);
    }
}
