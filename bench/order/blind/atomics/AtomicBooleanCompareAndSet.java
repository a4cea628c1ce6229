// Promise: java.util.concurrent.atomic: compareAndSet has the memory effects of VarHandle.compareAndSet, a volatile
// read and write.
// Way: a spin lock of AtomicBoolean: compareAndSet to lock, set(false) to unlock.
// Bad twin: the spin lock is never locked by the reader.
import java.util.concurrent.atomic.AtomicBoolean;

class AtomicBooleanCompareAndSet {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicBoolean locked = new AtomicBoolean();
        return Pair.together(() -> {
            Pair.until(() -> locked.compareAndSet(false, true));
            cell.value = 42;
            locked.set(false);
        }, () -> Pair.poll(() -> {
            Pair.until(() -> locked.compareAndSet(false, true));
            int seen = cell.value;
            locked.set(false);
            return seen;
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicBoolean locked = new AtomicBoolean();
        return Pair.together(() -> Pair.repeat(() -> {
            Pair.until(() -> locked.compareAndSet(false, true));
            cell.value = 42;
            locked.set(false);
        }), () -> Pair.repeatRead(() -> cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicBooleanCompareAndSet::good, AtomicBooleanCompareAndSet::bad);
    }
}
