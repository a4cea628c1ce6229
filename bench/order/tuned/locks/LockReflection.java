// Promise: Lock: lock and unlock have the memory effects of a monitor's; Method.invoke calls as the source would.
// Way: lock and unlock by reflection.
// Bad twin: the reader asks isLocked of another lock by reflection instead of locking.
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class LockReflection {
    static class Cell {
        int value;
    }

    static int locked(Lock lock, Pair.Reading inside) throws Exception {
        Lock.class.getMethod("lock").invoke(lock);
        try {
            return inside.read();
        } finally {
            Lock.class.getMethod("unlock").invoke(lock);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        return Pair.together(() -> locked(lock, () -> cell.value = 42),
                () -> Pair.poll(() -> locked(lock, () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        Lock unrelated = new ReentrantLock();
        return Pair.together(() -> Pair.repeat(() -> locked(lock, () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> {
                    boolean isLocked = (boolean) ReentrantLock.class.getMethod("isLocked").invoke(unrelated);
                    return isLocked ? 1 : cell.value;
                }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LockReflection::good, LockReflection::bad);
    }
}
