// Promise: java.util.concurrent.atomic: weakCompareAndSetVolatile has volatile effects when it succeeds.
// Way: a spin lock that tries weakly.
// Bad twin: weakCompareAndSetPlain and setPlain, which give no order: that two threads are never inside at once is
// no order in the memory model.
import java.util.concurrent.atomic.AtomicInteger;

class WeakCompareAndSet {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicInteger lock = new AtomicInteger();
        return Pair.together(() -> {
            Pair.until(() -> lock.weakCompareAndSetVolatile(0, 1));
            cell.value = 42;
            lock.set(0);
        }, () -> Pair.poll(() -> {
            Pair.until(() -> lock.weakCompareAndSetVolatile(0, 1));
            int seen = cell.value;
            lock.set(0);
            return seen;
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicInteger lock = new AtomicInteger();
        return Pair.together(() -> Pair.repeat(() -> {
            Pair.until(() -> lock.weakCompareAndSetPlain(0, 1));
            cell.value = 42;
            lock.setPlain(0);
        }), () -> Pair.repeatRead(() -> {
            Pair.until(() -> lock.weakCompareAndSetPlain(0, 1));
            int seen = cell.value;
            lock.setPlain(0);
            return seen;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, WeakCompareAndSet::good, WeakCompareAndSet::bad);
    }
}
