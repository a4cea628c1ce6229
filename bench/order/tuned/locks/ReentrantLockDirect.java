// Promise: Lock: a successful unlock and a successful lock have the memory effects of unlocking and locking a
// monitor.
// Way: ReentrantLock, direct.
// Bad twin: each thread has a lock of its own.
import java.util.concurrent.locks.ReentrantLock;

class ReentrantLockDirect {
    static class Cell {
        int value;
    }

    static int locked(ReentrantLock lock, Pair.Reading inside) throws Exception {
        lock.lock();
        try {
            return inside.read();
        } finally {
            lock.unlock();
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ReentrantLock lock = new ReentrantLock();
        return Pair.together(() -> locked(lock, () -> cell.value = 42),
                () -> Pair.poll(() -> locked(lock, () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ReentrantLock one = new ReentrantLock();
        ReentrantLock other = new ReentrantLock();
        return Pair.together(() -> Pair.repeat(() -> locked(one, () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> locked(other, () -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ReentrantLockDirect::good, ReentrantLockDirect::bad);
    }
}
