// Promise: java.util.concurrent.atomic: getAndSet on an element of an AtomicReferenceArray has volatile effects.
// Way: objects are handed over through a slot.
// Bad twin: the object in the slot is changed after it was put there.
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

class AtomicReferenceArraySlots {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        AtomicReferenceArray<Cell> slots = new AtomicReferenceArray<>(4);
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            slots.set(2, made);
        }, () -> {
            AtomicReference<Cell> taken = new AtomicReference<>();
            Pair.until(() -> {
                taken.set(slots.getAndSet(2, null));
                return taken.get() != null;
            });
            return taken.get().value;
        });
    }

    static int bad() throws Exception {
        AtomicReferenceArray<Cell> slots = new AtomicReferenceArray<>(4);
        return Pair.together(() -> {
            Cell made = new Cell();
            slots.set(2, made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> slots.get(2) != null);
            return Pair.repeatRead(() -> slots.get(2).value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicReferenceArraySlots::good, AtomicReferenceArraySlots::bad);
    }
}
