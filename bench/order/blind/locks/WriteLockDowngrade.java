// Promise: ReentrantReadWriteLock: a holder of the write lock may take the read lock and then release the write
// lock.
// Way: the writer goes on as a reader; another reader reads under the read lock.
// Bad twin: the writer writes again after the downgrade.
import java.util.concurrent.locks.ReentrantReadWriteLock;

class WriteLockDowngrade {
    static class Cell {
        int value;
    }

    static int run(boolean late) throws Exception {
        Cell cell = new Cell();
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        return Pair.together(() -> {
            lock.writeLock().lock();
            cell.value = 42;
            lock.readLock().lock();
            lock.writeLock().unlock();
            if (late) {
                Pair.repeat(() -> cell.value = 42);
            }
            lock.readLock().unlock();
        }, () -> {
            Pair.poll(() -> read(cell, lock));
            return late ? Pair.repeatRead(() -> read(cell, lock)) : read(cell, lock);
        });
    }

    static int read(Cell cell, ReentrantReadWriteLock lock) {
        lock.readLock().lock();
        int seen = cell.value;
        lock.readLock().unlock();
        return seen;
    }

    static int good() throws Exception {
        return run(false);
    }

    static int bad() throws Exception {
        return run(true);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, WriteLockDowngrade::good, WriteLockDowngrade::bad);
    }
}
