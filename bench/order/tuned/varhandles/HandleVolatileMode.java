// Promise: VarHandle.setVolatile and getVolatile act as if the variable were declared volatile.
// Way: a field that is not declared volatile, accessed in volatile mode.
// Bad twin: the flag is accessed in opaque mode, which orders nothing else.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleVolatileMode {
    static class Cell {
        int value;
    }

    static class Flag {
        int raised;
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
            Pair.poll(() -> (int) RAISED.getVolatile(flag));
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
            Pair.poll(() -> (int) RAISED.getOpaque(flag));
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleVolatileMode::good, HandleVolatileMode::bad);
    }
}
