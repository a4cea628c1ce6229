// Promise: JLS 17.5: everything written before the constructor ends counts, also by methods that the constructor
// calls.
// Way: the constructor calls a private method that fills the object behind the final field.
// Bad twin: the method that fills is called after the constructor, as a second step.
import java.util.concurrent.atomic.AtomicReference;

class FinalFilledByMethod {
    static class Cell {
        int value;
    }

    static class Lazy {
        final Cell inner = new Cell();

        Lazy(boolean atOnce) {
            if (atOnce) {
                fill();
            }
        }

        final void fill() {
            inner.value = 42;
        }
    }

    static int good() throws Exception {
        AtomicReference<Lazy> published = new AtomicReference<>();
        return Pair.together(() -> published.setOpaque(new Lazy(true)), () -> {
            Pair.until(() -> published.getOpaque() != null);
            return published.getOpaque().inner.value;
        });
    }

    static int bad() throws Exception {
        AtomicReference<Lazy> published = new AtomicReference<>();
        return Pair.together(() -> {
            Lazy lazy = new Lazy(false);
            lazy.fill();
            published.setOpaque(lazy);
            Pair.repeat(lazy::fill);
        }, () -> {
            Pair.until(() -> published.getOpaque() != null);
            return Pair.repeatRead(() -> published.getOpaque().inner.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FinalFilledByMethod::good, FinalFilledByMethod::bad);
    }
}
