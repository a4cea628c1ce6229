// Promise: java.util.concurrent.atomic: getAndIncrement has volatile read and write effects; whoever gets the
// higher number comes later.
// Way: a counter that the writer increments; the reader adds zero until it gets the new number.
// Bad twin: the reader does not access the counter.
import java.util.concurrent.atomic.AtomicInteger;

class AtomicGetAndIncrement {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicInteger tickets = new AtomicInteger();
        return Pair.together(() -> {
            cell.value = 42;
            tickets.getAndIncrement();
        }, () -> {
            Pair.until(() -> tickets.getAndAdd(0) == 1);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicInteger tickets = new AtomicInteger();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            tickets.getAndIncrement();
        }), () -> Pair.repeatRead(() -> cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicGetAndIncrement::good, AtomicGetAndIncrement::bad);
    }
}
