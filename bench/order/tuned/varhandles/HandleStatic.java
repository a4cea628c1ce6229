// Promise: VarHandle.setRelease and getVolatile: a volatile read of what a release wrote comes after it.
// Way: a static field.
// Bad twin: the acquiring side is opaque.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleStatic {
    static class Cell {
        int value;
    }

    static int raised;
    static final VarHandle RAISED = find();

    static VarHandle find() {
        try {
            return MethodHandles.lookup().findStaticVarHandle(HandleStatic.class, "raised", int.class);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        RAISED.setVolatile(0);
        return Pair.together(() -> {
            cell.value = 42;
            RAISED.setRelease(1);
        }, () -> {
            Pair.poll(() -> (int) RAISED.getVolatile());
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        RAISED.setVolatile(0);
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            RAISED.setRelease(1);
        }, () -> {
            Pair.poll(() -> (int) RAISED.getOpaque());
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleStatic::good, HandleStatic::bad);
    }
}
