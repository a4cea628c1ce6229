// Promise: StampedLock: locking and unlocking in write and read mode have the memory effects of Lock and Unlock
// actions.
// Way: writeLock and readLock.
// Bad twin: both threads hold the read lock.
import java.util.concurrent.locks.StampedLock;

class StampedWriteRead {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        StampedLock lock = new StampedLock();
        return Pair.together(() -> {
            long stamp = lock.writeLock();
            cell.value = 42;
            lock.unlockWrite(stamp);
        }, () -> Pair.poll(() -> {
            long stamp = lock.readLock();
            int seen = cell.value;
            lock.unlockRead(stamp);
            return seen;
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        StampedLock lock = new StampedLock();
        return Pair.together(() -> {
            long stamp = lock.readLock();
            Pair.repeat(() -> cell.value = 42);
            lock.unlockRead(stamp);
        }, () -> {
            long stamp = lock.readLock();
            int seen = Pair.repeatRead(() -> cell.value);
            lock.unlockRead(stamp);
            return seen;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StampedWriteRead::good, StampedWriteRead::bad);
    }
}
