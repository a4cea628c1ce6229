// Promise: StampedLock.asReadWriteLock: its views lock and unlock as the methods of the StampedLock do.
// Way: through the interface ReadWriteLock and the views.
// Bad twin: the view is of another StampedLock.
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.StampedLock;

class StampedAsReadWriteLock {
    static class Cell {
        int value;
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
        ReadWriteLock lock = new StampedLock().asReadWriteLock();
        return Pair.together(() -> locked(lock.writeLock(), () -> cell.value = 42),
                () -> Pair.poll(() -> locked(lock.readLock(), () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ReadWriteLock lock = new StampedLock().asReadWriteLock();
        ReadWriteLock other = new StampedLock().asReadWriteLock();
        return Pair.together(() -> Pair.repeat(() -> locked(lock.writeLock(), () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> locked(other.readLock(), () -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StampedAsReadWriteLock::good, StampedAsReadWriteLock::bad);
    }
}
