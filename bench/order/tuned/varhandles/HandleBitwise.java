// Promise: VarHandle.getAndBitwiseOr reads and writes with volatile effects.
// Way: bits of one int as flags.
// Bad twin: the reader tests the bits in opaque mode, the writer sets them in opaque mode.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleBitwise {
    static class Cell {
        int value;
    }

    static class Flags {
        int bits;
    }

    static final VarHandle BITS = find();

    static VarHandle find() {
        try {
            return MethodHandles.lookup().findVarHandle(Flags.class, "bits", int.class);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flags flags = new Flags();
        return Pair.together(() -> {
            cell.value = 42;
            BITS.getAndBitwiseOr(flags, 4);
        }, () -> {
            Pair.poll(() -> (int) BITS.getAndBitwiseOr(flags, 0) & 4);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flags flags = new Flags();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            BITS.setOpaque(flags, 4);
        }, () -> {
            Pair.poll(() -> (int) BITS.getOpaque(flags) & 4);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleBitwise::good, HandleBitwise::bad);
    }
}
