// Promise: VarHandle's fences and opaque access: a sequence lock whose data are accessed in opaque mode has no data
// race; the sequence orders the rest.
// Way: the reader takes the data and, when the sequence says that the writer has finished, a plain cell too.
// Bad twin: the reader does not look at the sequence.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class SequenceLock {
    static class Cell {
        int value;
    }

    static class Guarded {
        int sequence;
        int data;
        static final VarHandle SEQUENCE = find("sequence");
        static final VarHandle DATA = find("data");

        private static VarHandle find(String name) {
            try {
                return MethodHandles.lookup().findVarHandle(Guarded.class, name, int.class);
            } catch (ReflectiveOperationException missing) {
                throw new IllegalStateException(missing);
            }
        }

        void write(int value) {
            int old = (int) SEQUENCE.getOpaque(this);
            SEQUENCE.setOpaque(this, old + 1);
            VarHandle.releaseFence();
            DATA.setOpaque(this, value);
            SEQUENCE.setRelease(this, old + 2);
        }

        int read() throws Exception {
            return Pair.poll(() -> {
                int before = (int) SEQUENCE.getAcquire(this);
                int seen = (int) DATA.getOpaque(this);
                VarHandle.acquireFence();
                int after = (int) SEQUENCE.getOpaque(this);
                return before == after && before % 2 == 0 ? seen : 0;
            });
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Guarded guarded = new Guarded();
        return Pair.together(() -> {
            cell.value = 40;
            guarded.write(2);
        }, () -> guarded.read() + cell.value);
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Guarded guarded = new Guarded();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 40;
            guarded.write(2);
        }), () -> Pair.repeatRead(() -> cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SequenceLock::good, SequenceLock::bad);
    }
}
