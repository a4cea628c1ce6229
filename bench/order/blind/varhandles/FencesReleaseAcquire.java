// Promise: VarHandle.releaseFence before an opaque write and acquireFence after the opaque read that sees it order
// as release and acquire do.
// Way: fences with opaque accesses.
// Bad twin: the fences are missing.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class FencesReleaseAcquire {
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
            Pair.poll(() -> (int) RAISED.getOpaque(flag));
            VarHandle.acquireFence();
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
        Pair.main(arguments, FencesReleaseAcquire::good, FencesReleaseAcquire::bad);
    }
}
