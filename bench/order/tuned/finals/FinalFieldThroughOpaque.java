// Promise: JLS 17.5: who gets a reference to an object only after its constructor has ended sees the right values
// of its final fields, even if the reference comes without any order.
// Way: the reference is passed in opaque mode, which gives no order; the final field is read directly.
// Bad twin: the field is not final.
import java.util.concurrent.atomic.AtomicReference;

class FinalFieldThroughOpaque {
    static class Cell {
        int value;
    }

    static class FinalCell {
        final int value;

        FinalCell() {
            value = 42;
        }
    }

    static final AtomicReference<FinalCell> FINAL = new AtomicReference<>();
    static final AtomicReference<Cell> PLAIN = new AtomicReference<>();

    static int good() throws Exception {
        FINAL.setOpaque(null);
        return Pair.together(() -> FINAL.setOpaque(new FinalCell()), () -> {
            Pair.until(() -> FINAL.getOpaque() != null);
            return FINAL.getOpaque().value;
        });
    }

    static int bad() throws Exception {
        PLAIN.setOpaque(null);
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            PLAIN.setOpaque(made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> PLAIN.getOpaque() != null);
            return Pair.repeatRead(() -> PLAIN.getOpaque().value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FinalFieldThroughOpaque::good, FinalFieldThroughOpaque::bad);
    }
}
