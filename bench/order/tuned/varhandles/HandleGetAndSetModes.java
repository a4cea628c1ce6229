// Promise: VarHandle.getAndSetRelease writes with release effects; getAndSetAcquire reads with acquire effects.
// Way: an object is handed over through one field.
// Bad twin: the object is changed after it was handed over.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleGetAndSetModes {
    static class Cell {
        int value;
    }

    static class Slot {
        Cell content;
    }

    static final VarHandle CONTENT = find();

    static VarHandle find() {
        try {
            return MethodHandles.lookup().findVarHandle(Slot.class, "content", Cell.class);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static Cell take(Slot slot) {
        long begun = System.nanoTime();
        Cell taken = (Cell) CONTENT.getAndSetAcquire(slot, (Cell) null);
        while (taken == null && System.nanoTime() - begun < 5_000_000_000L) {
            Thread.yield();
            taken = (Cell) CONTENT.getAndSetAcquire(slot, (Cell) null);
        }
        return taken;
    }

    static int good() throws Exception {
        Slot slot = new Slot();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            CONTENT.getAndSetRelease(slot, made);
        }, () -> take(slot).value);
    }

    static int bad() throws Exception {
        Slot slot = new Slot();
        return Pair.together(() -> {
            Cell made = new Cell();
            CONTENT.getAndSetRelease(slot, made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Cell taken = take(slot);
            return Pair.repeatRead(() -> taken.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleGetAndSetModes::good, HandleGetAndSetModes::bad);
    }
}
