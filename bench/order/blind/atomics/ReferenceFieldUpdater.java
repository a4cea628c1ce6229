// Promise: AtomicReferenceFieldUpdater: compareAndSet has volatile effects.
// Way: the first thread to compare and set publishes; the reader gets by the updater.
// Bad twin: compareAndSet publishes an object that is filled afterwards.
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

class ReferenceFieldUpdater {
    static class Cell {
        int value;
    }

    static class Holder {
        volatile Cell published;
    }

    static final AtomicReferenceFieldUpdater<Holder, Cell> PUBLISHED =
            AtomicReferenceFieldUpdater.newUpdater(Holder.class, Cell.class, "published");

    static int good() throws Exception {
        Holder holder = new Holder();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            PUBLISHED.compareAndSet(holder, null, made);
        }, () -> {
            Pair.until(() -> PUBLISHED.get(holder) != null);
            return PUBLISHED.get(holder).value;
        });
    }

    static int bad() throws Exception {
        Holder holder = new Holder();
        return Pair.together(() -> {
            Cell made = new Cell();
            PUBLISHED.compareAndSet(holder, null, made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> PUBLISHED.get(holder) != null);
            return Pair.repeatRead(() -> PUBLISHED.get(holder).value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ReferenceFieldUpdater::good, ReferenceFieldUpdater::bad);
    }
}
