// Promise: Cleaner.Cleanable.clean runs the cleaning action at most once, in the calling thread; JLS 17.4.5 program
// order, and a monitor for the others.
// Way: close is synchronized and calls clean; a synchronized method asks for the state afterwards.
// Bad twin: close is not synchronized, and the state is asked for without a lock.
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;

class CleanableClean {
    static class Cell {
        int value;
    }

    static class Resource implements AutoCloseable {
        private static final Cleaner CLEANER = Cleaner.create();
        final Cell state = new Cell();
        private final Cleaner.Cleanable cleanable;

        Resource() {
            Cell kept = state;
            cleanable = CLEANER.register(this, () -> {
                for (int round = 0; round < 5; round++) {
                    kept.value = 42;
                    Pair.pause();
                }
            });
        }

        @Override
        public synchronized void close() {
            cleanable.clean();
        }

        synchronized int state() {
            return state.value;
        }

        void closeUnlocked() {
            cleanable.clean();
        }

        int peek() {
            return state.value;
        }
    }

    static int good() throws Exception {
        Resource resource = new Resource();
        int seen = Pair.together(resource::close, () -> Pair.poll(resource::state));
        Reference.reachabilityFence(resource);
        return seen;
    }

    static int bad() throws Exception {
        Resource resource = new Resource();
        int seen = Pair.together(resource::closeUnlocked, () -> Pair.repeatRead(resource::peek));
        Reference.reachabilityFence(resource);
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CleanableClean::good, CleanableClean::bad);
    }
}
