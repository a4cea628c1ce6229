// Promise: StampedLock: a successful tryConvertToWriteLock has the memory effects of a lock in write mode.
// Way: an optimistic stamp is converted to a write lock.
// Bad twin: the conversion's result is not looked at: the lock is held in read mode by both.
import java.util.concurrent.locks.StampedLock;

class StampedConvert {
    static class Cell {
        int value;
    }

    static int readLocked(StampedLock lock, Cell cell) {
        long stamp = lock.readLock();
        int seen = cell.value;
        lock.unlockRead(stamp);
        return seen;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        StampedLock lock = new StampedLock();
        return Pair.together(() -> Pair.until(() -> {
            long stamp = lock.tryConvertToWriteLock(lock.tryOptimisticRead());
            if (stamp == 0) {
                return false;
            }
            cell.value = 42;
            lock.unlock(stamp);
            return true;
        }), () -> Pair.poll(() -> readLocked(lock, cell)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        StampedLock lock = new StampedLock();
        long other = lock.readLock();
        int seen = Pair.together(() -> {
            long stamp = lock.readLock();
            lock.tryConvertToWriteLock(stamp);
            Pair.repeat(() -> cell.value = 42);
            lock.unlockRead(stamp);
        }, () -> Pair.repeatRead(() -> readLocked(lock, cell)));
        lock.unlockRead(other);
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StampedConvert::good, StampedConvert::bad);
    }
}
