// Promise: Lock: lock and unlock have the memory effects of a monitor's; a subclass inherits them.
// Way: a subclass of ReentrantLock that counts.
// Bad twin: the subclass overrides lock and unlock to do nothing.
import java.util.concurrent.locks.ReentrantLock;

class LockSubclass {
    static class Cell {
        int value;
    }

    static class CountingLock extends ReentrantLock {
        private static final long serialVersionUID = 1L;
        private int count;

        @Override
        public void lock() {
            super.lock();
            count++;
        }
    }

    static class DeadLock extends ReentrantLock {
        private static final long serialVersionUID = 1L;

        @Override
        public void lock() {
            Thread.onSpinWait();
        }

        @Override
        public void unlock() {
            Thread.onSpinWait();
        }
    }

    static int locked(ReentrantLock lock, Pair.Reading inside) throws Exception {
        lock.lock();
        try {
            return inside.read();
        } finally {
            lock.unlock();
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ReentrantLock lock = new CountingLock();
        return Pair.together(() -> locked(lock, () -> cell.value = 42),
                () -> Pair.poll(() -> locked(lock, () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ReentrantLock lock = new DeadLock();
        return Pair.together(() -> Pair.repeat(() -> locked(lock, () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> locked(lock, () -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LockSubclass::good, LockSubclass::bad);
    }
}
