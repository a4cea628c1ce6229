// Promise: JLS 17.5.1: the order that a final field gives goes on through the objects behind it.
// Way: a final field leads to an object whose final field leads to the cell; passed by an opaque VarHandle on a
// static field.
// Bad twin: the reader reaches the cell not through the final fields but through a reference of its own that it got
// without order.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class FinalNested {
    static class Cell {
        int value;
    }

    static class Inner {
        final Cell last = new Cell();

        Inner() {
            last.value = 42;
        }
    }

    static class Outer {
        final Inner inner = new Inner();
    }

    static Outer outer;
    static Cell direct;
    static final VarHandle OUTER = handle("outer", Outer.class);
    static final VarHandle DIRECT = handle("direct", Cell.class);

    static VarHandle handle(String name, Class<?> type) {
        try {
            return MethodHandles.lookup().findStaticVarHandle(FinalNested.class, name, type);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static int good() throws Exception {
        OUTER.setOpaque((Outer) null);
        return Pair.together(() -> OUTER.setOpaque(new Outer()), () -> {
            Pair.until(() -> OUTER.getOpaque() != null);
            return ((Outer) OUTER.getOpaque()).inner.last.value;
        });
    }

    static int bad() throws Exception {
        DIRECT.setOpaque((Cell) null);
        return Pair.together(() -> {
            DIRECT.setOpaque(new Outer().inner.last);
            Pair.pause();
        }, () -> {
            Pair.until(() -> DIRECT.getOpaque() != null);
            return Pair.repeatRead(() -> ((Cell) DIRECT.getOpaque()).value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FinalNested::good, FinalNested::bad);
    }
}
