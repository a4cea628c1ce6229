// Promise: Lock: a successful timed tryLock is a successful lock operation; an unsuccessful one has no memory
// effects.
// Way: tryLock with a limit, known as a Lock.
// Bad twin: the limit is over and the lock was not got; the reader reads all the same.
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class TryLockTimed {
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
            if (!lock.tryLock(5, TimeUnit.SECONDS)) {
                return -1;
            }
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
            for (int round = 0; round < 3; round++) {
                Pair.repeat(() -> cell.value = 42);
            }
            lock.unlock();
        }, () -> {
            Pair.pause();
            boolean success = lock.tryLock(1, TimeUnit.MILLISECONDS);
            int seen = Pair.repeatRead(() -> cell.value);
            if (success) {
                lock.unlock();
            }
            return seen;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, TryLockTimed::good, TryLockTimed::bad);
    }
}
