// Promise: AtomicLongFieldUpdater: incrementAndGet has volatile effects, and so has get.
// Way: a sequence number by field updater on both sides.
// Bad twin: the reader does not look at the sequence number before it reads.
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

class LongFieldUpdater {
    static class Cell {
        int value;
    }

    static class Sequence {
        volatile long number;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicLongFieldUpdater<Sequence> number = AtomicLongFieldUpdater.newUpdater(Sequence.class, "number");
        Sequence sequence = new Sequence();
        return Pair.together(() -> {
            cell.value = 42;
            number.incrementAndGet(sequence);
        }, () -> {
            Pair.until(() -> number.get(sequence) == 1);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicLongFieldUpdater<Sequence> number = AtomicLongFieldUpdater.newUpdater(Sequence.class, "number");
        Sequence sequence = new Sequence();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            number.incrementAndGet(sequence);
        }), () -> Pair.repeatRead(() -> cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LongFieldUpdater::good, LongFieldUpdater::bad);
    }
}
