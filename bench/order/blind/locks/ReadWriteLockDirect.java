// Promise: ReadWriteLock: who gets the read lock sees all updates made before the write lock was released.
// Way: through the interface ReadWriteLock.
// Bad twin: the writer writes under the read lock, which readers share.
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

class ReadWriteLockDirect {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ReadWriteLock lock = new ReentrantReadWriteLock();
        return Pair.together(() -> {
            lock.writeLock().lock();
            cell.value = 42;
            lock.writeLock().unlock();
        }, () -> Pair.poll(() -> {
            lock.readLock().lock();
            int seen = cell.value;
            lock.readLock().unlock();
            return seen;
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ReadWriteLock lock = new ReentrantReadWriteLock();
        return Pair.together(() -> {
            lock.readLock().lock();
            Pair.repeat(() -> cell.value = 42);
            lock.readLock().unlock();
        }, () -> {
            lock.readLock().lock();
            int seen = Pair.repeatRead(() -> cell.value);
            lock.readLock().unlock();
            return seen;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ReadWriteLockDirect::good, ReadWriteLockDirect::bad);
    }
}
