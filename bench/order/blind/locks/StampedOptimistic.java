// Promise: StampedLock: actions before the last write unlock happen-before those after tryOptimisticRead if
// validate then says true.
// Way: the write lock is held from the beginning; the reader asks until there is an optimistic stamp.
// Bad twin: the writer writes without the lock, so that an optimistic read is always valid.
import java.util.concurrent.locks.StampedLock;

class StampedOptimistic {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        StampedLock lock = new StampedLock();
        long held = lock.writeLock();
        return Pair.together(() -> {
            cell.value = 42;
            lock.unlockWrite(held);
        }, () -> {
            Pair.until(() -> lock.tryOptimisticRead() != 0);
            long stamp = lock.tryOptimisticRead();
            int seen = cell.value;
            return lock.validate(stamp) ? seen : -1;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        StampedLock lock = new StampedLock();
        return Pair.together(() -> Pair.repeat(() -> cell.value = 42), () -> Pair.repeatRead(() -> {
            long stamp = lock.tryOptimisticRead();
            int seen = cell.value;
            return lock.validate(stamp) ? seen : -1;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StampedOptimistic::good, StampedOptimistic::bad);
    }
}
