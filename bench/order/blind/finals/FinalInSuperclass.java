// Promise: JLS 17.5: a final field is frozen when the constructor of its class ends, which an object of a subclass
// runs first.
// Way: the final field belongs to the superclass; the reference is passed in opaque mode.
// Bad twin: `this` is passed on inside the superclass's constructor, before the object behind the field is filled.
import java.util.concurrent.atomic.AtomicReference;

class FinalInSuperclass {
    static class Cell {
        int value;
    }

    static class Base {
        final Cell inner = new Cell();

        Base(AtomicReference<Base> escape) throws Exception {
            if (escape != null) {
                escape.setOpaque(this);
                Pair.repeat(() -> inner.value = 42);
            }
            inner.value = 42;
        }
    }

    static class Derived extends Base {
        Derived(AtomicReference<Base> escape) throws Exception {
            super(escape);
        }
    }

    static int good() throws Exception {
        AtomicReference<Base> published = new AtomicReference<>();
        return Pair.together(() -> published.setOpaque(new Derived(null)), () -> {
            Pair.until(() -> published.getOpaque() != null);
            return published.getOpaque().inner.value;
        });
    }

    static int bad() throws Exception {
        AtomicReference<Base> published = new AtomicReference<>();
        return Pair.together(() -> new Derived(published), () -> {
            Pair.until(() -> published.getOpaque() != null);
            return Pair.repeatRead(() -> published.getOpaque().inner.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FinalInSuperclass::good, FinalInSuperclass::bad);
    }
}
