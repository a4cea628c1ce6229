// Promise: java.util.concurrent.atomic: updateAndGet and accumulateAndGet update atomically with volatile effects.
// Way: functions passed as lambdas and method references.
// Bad twin: each thread updates an AtomicLong of its own.
import java.util.concurrent.atomic.AtomicLong;

class AtomicLongUpdate {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicLong sum = new AtomicLong();
        return Pair.together(() -> {
            cell.value = 42;
            sum.accumulateAndGet(1, Long::sum);
        }, () -> {
            Pair.until(() -> sum.updateAndGet(old -> old) == 1);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicLong sum = new AtomicLong();
        AtomicLong other = new AtomicLong();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            sum.accumulateAndGet(1, Long::sum);
        }), () -> Pair.repeatRead(() -> other.updateAndGet(old -> old) == 1 ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicLongUpdate::good, AtomicLongUpdate::bad);
    }
}
