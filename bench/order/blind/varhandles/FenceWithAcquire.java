// Promise: VarHandle.releaseFence followed by an opaque write orders with a getAcquire that sees the write.
// Way: a fence on one side, an access mode on the other.
// Bad twin: the fence stands after the opaque write.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class FenceWithAcquire {
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
            VarHandle.releaseFence();
            RAISED.setOpaque(flag, 1);
        }, () -> {
            Pair.poll(() -> (int) RAISED.getAcquire(flag));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            RAISED.setOpaque(flag, 1);
            VarHandle.releaseFence();
        }, () -> {
            Pair.poll(() -> (int) RAISED.getAcquire(flag));
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FenceWithAcquire::good, FenceWithAcquire::bad);
    }
}
