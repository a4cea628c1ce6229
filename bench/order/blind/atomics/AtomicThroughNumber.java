// Promise: java.util.concurrent.atomic: intValue is get, with volatile effects (AtomicInteger says so).
// Way: the reader sees the AtomicInteger as a Number.
// Bad twin: the Number is another one, which the writer does not set.
import java.util.concurrent.atomic.AtomicInteger;

class AtomicThroughNumber {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicInteger flag = new AtomicInteger();
        Number number = flag;
        return Pair.together(() -> {
            cell.value = 42;
            flag.incrementAndGet();
        }, () -> {
            Pair.poll(number::intValue);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicInteger flag = new AtomicInteger();
        Number number = new AtomicInteger();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            flag.incrementAndGet();
        }), () -> Pair.repeatRead(() -> number.intValue() == 1 ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicThroughNumber::good, AtomicThroughNumber::bad);
    }
}
