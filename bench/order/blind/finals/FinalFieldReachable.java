// Promise: JLS 17.5 and 17.5.1: what is reached through a final field is at least as new as when the constructor
// ended.
// Way: a plain object behind a final field, filled in the constructor; the outer reference is passed in opaque
// mode.
// Bad twin: the field that leads to the plain object is not final.
import java.util.concurrent.atomic.AtomicReference;

class FinalFieldReachable {
    static class Cell {
        int value;
    }

    static class Holder {
        final Cell inner;

        Holder() {
            inner = new Cell();
            inner.value = 42;
        }
    }

    static class OpenHolder {
        Cell inner;

        OpenHolder() {
            inner = new Cell();
            inner.value = 42;
        }
    }

    static int good() throws Exception {
        AtomicReference<Holder> published = new AtomicReference<>();
        return Pair.together(() -> published.setOpaque(new Holder()), () -> {
            Pair.until(() -> published.getOpaque() != null);
            return published.getOpaque().inner.value;
        });
    }

    static int bad() throws Exception {
        AtomicReference<OpenHolder> published = new AtomicReference<>();
        return Pair.together(() -> {
            published.setOpaque(new OpenHolder());
            Pair.pause();
        }, () -> {
            Pair.until(() -> published.getOpaque() != null);
            return Pair.repeatRead(() -> published.getOpaque().inner.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FinalFieldReachable::good, FinalFieldReachable::bad);
    }
}
