// Promise: VarHandle.fullFence is at least a release fence and an acquire fence.
// Way: full fences with opaque accesses.
// Bad twin: only the writer has a fence; a fence of one thread orders nothing in another.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class FencesFull {
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
            VarHandle.fullFence();
            RAISED.setOpaque(flag, 1);
        }, () -> {
            Pair.poll(() -> (int) RAISED.getOpaque(flag));
            VarHandle.fullFence();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            VarHandle.fullFence();
            RAISED.setOpaque(flag, 1);
        }, () -> {
            Pair.poll(() -> (int) RAISED.getOpaque(flag));
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FencesFull::good, FencesFull::bad);
    }
}
