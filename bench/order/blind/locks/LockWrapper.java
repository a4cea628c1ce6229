// Promise: Lock: lock and unlock have the memory effects of a monitor's.
// Way: a class of one's own delegates to a lock; it can be used with try-with-resources.
// Bad twin: the wrapper makes a new lock each time it is entered.
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class LockWrapper {
    static class Cell {
        int value;
    }

    static class Guard {
        private final boolean careless;
        private final Lock shared = new ReentrantLock();

        Guard(boolean careless) {
            this.careless = careless;
        }

        Held enter() {
            Lock lock = careless ? new ReentrantLock() : shared;
            lock.lock();
            return lock::unlock;
        }
    }

    interface Held extends AutoCloseable {
        @Override
        void close();
    }

    static int read(Guard guard, Pair.Reading inside) throws Exception {
        Held held = guard.enter();
        try {
            return inside.read();
        } finally {
            held.close();
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Guard guard = new Guard(false);
        return Pair.together(() -> read(guard, () -> cell.value = 42),
                () -> Pair.poll(() -> read(guard, () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Guard guard = new Guard(true);
        return Pair.together(() -> Pair.repeat(() -> read(guard, () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> read(guard, () -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LockWrapper::good, LockWrapper::bad);
    }
}
