// Promise: java.util.concurrent.atomic: set and get of an AtomicReference have volatile memory effects.
// Way: a filled object is published by set.
// Bad twin: the object is published by setPlain and read by getPlain, which have plain memory effects.
import java.util.concurrent.atomic.AtomicReference;

class AtomicReferencePublish {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        AtomicReference<Cell> published = new AtomicReference<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            published.set(made);
        }, () -> {
            Pair.until(() -> published.get() != null);
            return published.get().value;
        });
    }

    static int bad() throws Exception {
        AtomicReference<Cell> published = new AtomicReference<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            published.setPlain(made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> {
                Pair.pause();
                return published.getPlain() != null;
            });
            return Pair.repeatRead(() -> published.getPlain().value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicReferencePublish::good, AtomicReferencePublish::bad);
    }
}
