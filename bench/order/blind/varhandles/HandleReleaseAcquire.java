// Promise: VarHandle.setRelease and getAcquire: what comes before the release is seen after the acquire that reads
// it.
// Way: a field accessed in release and acquire mode.
// Bad twin: the release comes before the write.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleReleaseAcquire {
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
            RAISED.setRelease(flag, 1);
        }, () -> {
            Pair.poll(() -> (int) RAISED.getAcquire(flag));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        return Pair.together(() -> {
            RAISED.setRelease(flag, 1);
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            Pair.poll(() -> (int) RAISED.getAcquire(flag));
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleReleaseAcquire::good, HandleReleaseAcquire::bad);
    }
}
