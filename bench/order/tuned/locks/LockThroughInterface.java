// Promise: Lock: a successful unlock and a successful lock have the memory effects of unlocking and locking a
// monitor.
// Way: the lock is known as a Lock only; it is a fair one.
// Bad twin: the writer writes after unlock.
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class LockThroughInterface {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock(true);
        return Pair.together(() -> {
            lock.lock();
            cell.value = 42;
            lock.unlock();
        }, () -> Pair.poll(() -> {
            lock.lock();
            int seen = cell.value;
            lock.unlock();
            return seen;
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock(true);
        return Pair.together(() -> Pair.repeat(() -> {
            lock.lock();
            lock.unlock();
            cell.value = 42;
        }), () -> Pair.repeatRead(() -> {
            lock.lock();
            int seen = cell.value;
            lock.unlock();
            return seen;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LockThroughInterface::good, LockThroughInterface::bad);
    }
}
