// Promise: java.util.concurrent.atomic: compareAndSet on an element of an AtomicLongArray has volatile effects.
// Way: a lock of one element.
// Bad twin: the element that is locked is the number of the thread.
import java.util.concurrent.atomic.AtomicLongArray;

class AtomicLongArrayCompareAndSet {
    static class Cell {
        int value;
    }

    static int locked(AtomicLongArray locks, int index, Pair.Reading inside) throws Exception {
        Pair.until(() -> locks.compareAndSet(index, 0, 1));
        int seen = inside.read();
        locks.set(index, 0);
        return seen;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicLongArray locks = new AtomicLongArray(64);
        return Pair.together(() -> locked(locks, 5, () -> cell.value = 42),
                () -> Pair.poll(() -> locked(locks, 5, () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicLongArray locks = new AtomicLongArray(64);
        return Pair.together(() -> Pair.repeat(() -> locked(locks, 5, () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> locked(locks, 50, () -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicLongArrayCompareAndSet::good, AtomicLongArrayCompareAndSet::bad);
    }
}
