// Promise: Lock: a successful tryLock is a successful lock operation, with its memory effects.
// Way: the reader tries until it succeeds.
// Bad twin: the reader reads although tryLock fails: the lock is held by the writer all the time.
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class TryLock {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        return Pair.together(() -> {
            lock.lock();
            cell.value = 42;
            lock.unlock();
        }, () -> Pair.poll(() -> {
            Pair.until(lock::tryLock);
            int seen = cell.value;
            lock.unlock();
            return seen;
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        return Pair.together(() -> {
            lock.lock();
            Pair.repeat(() -> cell.value = 42);
            lock.unlock();
        }, () -> Pair.repeatRead(() -> {
            boolean success = lock.tryLock();
            int seen = cell.value;
            if (success) {
                lock.unlock();
            }
            return seen;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, TryLock::good, TryLock::bad);
    }
}
