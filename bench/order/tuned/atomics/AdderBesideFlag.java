// Promise: LongAdder promises no order; the volatile effects of an AtomicBoolean beside it do.
// Way: a LongAdder counts, an AtomicBoolean orders.
// Bad twin: only the LongAdder is there: both threads add to it, which documents no order.
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

class AdderBesideFlag {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        LongAdder count = new LongAdder();
        AtomicBoolean ready = new AtomicBoolean();
        return Pair.together(() -> {
            cell.value = 42;
            count.increment();
            ready.set(true);
        }, () -> {
            Pair.until(ready::get);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        LongAdder count = new LongAdder();
        return Pair.together(() -> Pair.repeat(() -> {
            count.increment();
            cell.value = 42;
        }), () -> Pair.repeatRead(() -> {
            count.increment();
            return cell.value;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AdderBesideFlag::good, AdderBesideFlag::bad);
    }
}
