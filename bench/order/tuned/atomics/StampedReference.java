// Promise: java.util.concurrent.atomic: an AtomicStampedReference changes reference and stamp together; its methods
// have volatile effects.
// Way: compareAndSet with a stamp.
// Bad twin: the object is written after its stamp was set.
import java.util.concurrent.atomic.AtomicStampedReference;

class StampedReference {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        AtomicStampedReference<Cell> published = new AtomicStampedReference<>(null, 0);
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            published.compareAndSet(null, made, 0, 1);
        }, () -> {
            Pair.poll(published::getStamp);
            return published.getReference().value;
        });
    }

    static int bad() throws Exception {
        AtomicStampedReference<Cell> published = new AtomicStampedReference<>(null, 0);
        return Pair.together(() -> {
            Cell made = new Cell();
            published.compareAndSet(null, made, 0, 1);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.poll(published::getStamp);
            return Pair.repeatRead(() -> published.getReference().value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StampedReference::good, StampedReference::bad);
    }
}
