// Promise: Lock: lock and unlock have the memory effects of a monitor's.
// Way: lock and unlock are passed as method references.
// Bad twin: the references for the reader are of another lock.
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class LockMethodReferences {
    static class Cell {
        int value;
    }

    static int between(Runnable before, Pair.Reading inside, Runnable after) throws Exception {
        before.run();
        try {
            return inside.read();
        } finally {
            after.run();
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        return Pair.together(() -> between(lock::lock, () -> cell.value = 42, lock::unlock),
                () -> Pair.poll(() -> between(lock::lock, () -> cell.value, lock::unlock)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        Lock other = new ReentrantLock();
        return Pair.together(() -> Pair.repeat(() -> between(lock::lock, () -> cell.value = 42, lock::unlock)),
                () -> Pair.repeatRead(() -> between(other::lock, () -> cell.value, other::unlock)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LockMethodReferences::good, LockMethodReferences::bad);
    }
}
