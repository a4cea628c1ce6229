// Promise: a VarHandle of a field that is declared volatile keeps the order of the mode that is used: volatile
// here, opaque gives none.
// Way: the handle writes in volatile mode, the program reads the field directly.
// Bad twin: the handle writes in opaque mode, although the field is declared volatile.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleOfVolatileField {
    static class Cell {
        int value;
    }

    static class Flag {
        volatile int raised;
    }

    static final VarHandle RAISED = find();

    static VarHandle find() {
        try {
            return MethodHandles.lookup().findVarHandle(Flag.class, "raised", int.class);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        return Pair.together(() -> {
            cell.value = 42;
            RAISED.setVolatile(flag, 1);
        }, () -> {
            Pair.poll(() -> flag.raised);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            RAISED.setOpaque(flag, 1);
        }, () -> {
            Pair.poll(() -> flag.raised);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleOfVolatileField::good, HandleOfVolatileField::bad);
    }
}
