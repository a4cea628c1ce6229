// Promise: java.util.concurrent.atomic: lazySet has the memory effects of VarHandle.setRelease; a get that sees it
// comes after it.
// Way: lazySet and get.
// Bad twin: the reader uses getPlain.
import java.util.concurrent.atomic.AtomicInteger;

class AtomicLazySet {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicInteger flag = new AtomicInteger();
        return Pair.together(() -> {
            cell.value = 42;
            flag.lazySet(1);
        }, () -> {
            Pair.poll(flag::get);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicInteger flag = new AtomicInteger();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            flag.lazySet(1);
        }, () -> {
            Pair.poll(() -> {
                Pair.pause();
                return flag.getPlain();
            });
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicLazySet::good, AtomicLazySet::bad);
    }
}
