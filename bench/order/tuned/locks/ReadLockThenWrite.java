// Promise: ReadWriteLock and Lock: releasing a read lock comes before the write lock that waits for it.
// Way: the reader's read comes first; the writer gets the write lock after it and changes the cell.
// Bad twin: the writer takes no lock.
import java.util.concurrent.locks.ReentrantReadWriteLock;

class ReadLockThenWrite {
    static class Cell {
        int value;
    }

    static class Shared {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);
        final Cell cell = new Cell();
    }

    static int good() throws Exception {
        Shared shared = new Shared();
        shared.cell.value = 42;
        shared.lock.readLock().lock();
        Cell result = new Cell();
        Thread writer = new Thread(() -> {
            shared.lock.writeLock().lock();
            shared.cell.value = 7;
            shared.lock.writeLock().unlock();
        });
        writer.start();
        result.value = shared.cell.value;
        shared.lock.readLock().unlock();
        writer.join();
        return result.value;
    }

    static int bad() throws Exception {
        Shared shared = new Shared();
        return Pair.together(() -> Pair.repeat(() -> shared.cell.value = 7), () -> Pair.repeatRead(() -> {
            shared.lock.readLock().lock();
            int seen = shared.cell.value;
            shared.lock.readLock().unlock();
            return seen;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ReadLockThenWrite::good, ReadLockThenWrite::bad);
    }
}
