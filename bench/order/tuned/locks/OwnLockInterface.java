// Promise: Lock: all implementations must give the memory effects of a monitor; this one gets them from a monitor.
// Way: a class of one's own that implements Lock with wait and notify.
// Bad twin: the implementation keeps no monitor while it changes its state, and excludes nobody.
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

class OwnLockInterface {
    static class Cell {
        int value;
    }

    static class MonitorLock implements Lock {
        private boolean held;

        @Override
        public synchronized void lock() {
            while (held) {
                try {
                    wait();
                } catch (InterruptedException stop) {
                    throw new IllegalStateException(stop);
                }
            }
            held = true;
        }

        @Override
        public synchronized void unlock() {
            held = false;
            notify();
        }

        @Override
        public void lockInterruptibly() {
            lock();
        }

        @Override
        public boolean tryLock() {
            throw new IllegalStateException();
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) {
            throw new IllegalStateException();
        }

        @Override
        public Condition newCondition() {
            throw new IllegalStateException();
        }
    }

    static class OpenLock extends MonitorLock {
        @Override
        public void lock() {
            Thread.onSpinWait();
        }

        @Override
        public void unlock() {
            Thread.onSpinWait();
        }
    }

    static int locked(Lock lock, Pair.Reading inside) throws Exception {
        lock.lock();
        try {
            return inside.read();
        } finally {
            lock.unlock();
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Lock lock = new MonitorLock();
        return Pair.together(() -> locked(lock, () -> cell.value = 42),
                () -> Pair.poll(() -> locked(lock, () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Lock lock = new OpenLock();
        return Pair.together(() -> Pair.repeat(() -> locked(lock, () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> locked(lock, () -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, OwnLockInterface::good, OwnLockInterface::bad);
    }
}
