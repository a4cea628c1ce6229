// Promise: Lock: lockInterruptibly that returns normally is a successful lock operation.
// Way: both threads lock interruptibly.
// Bad twin: one thread locks interruptibly, the other does not lock.
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class LockInterruptibly {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        return Pair.together(() -> {
            lock.lockInterruptibly();
            cell.value = 42;
            lock.unlock();
        }, () -> Pair.poll(() -> {
            lock.lockInterruptibly();
            int seen = cell.value;
            lock.unlock();
            return seen;
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        return Pair.together(() -> Pair.repeat(() -> {
            lock.lockInterruptibly();
            cell.value = 42;
            lock.unlock();
        }), () -> Pair.repeatRead(() -> cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LockInterruptibly::good, LockInterruptibly::bad);
    }
}
