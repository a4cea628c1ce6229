// Promise: java.util.concurrent.atomic: an AtomicMarkableReference's set and get have volatile effects.
// Way: the mark says that the object is complete.
// Bad twin: the reader reads whether or not there is a mark.
import java.util.concurrent.atomic.AtomicMarkableReference;

class MarkableReference {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell shared = new Cell();
        AtomicMarkableReference<Cell> published = new AtomicMarkableReference<>(shared, false);
        return Pair.together(() -> {
            shared.value = 42;
            published.set(shared, true);
        }, () -> {
            Pair.until(published::isMarked);
            return shared.value;
        });
    }

    static int bad() throws Exception {
        Cell shared = new Cell();
        AtomicMarkableReference<Cell> published = new AtomicMarkableReference<>(shared, false);
        return Pair.together(() -> {
            Pair.repeat(() -> shared.value = 42);
            published.set(shared, true);
        }, () -> {
            int seen = Pair.repeatRead(() -> shared.value);
            Pair.until(published::isMarked);
            return seen;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MarkableReference::good, MarkableReference::bad);
    }
}
