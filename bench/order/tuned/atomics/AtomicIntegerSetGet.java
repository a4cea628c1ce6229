// Promise: java.util.concurrent.atomic: set and get have the memory effects of writing and reading a volatile
// variable.
// Way: AtomicInteger, direct.
// Bad twin: set comes before the write of the cell.
import java.util.concurrent.atomic.AtomicInteger;

class AtomicIntegerSetGet {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicInteger flag = new AtomicInteger();
        return Pair.together(() -> {
            cell.value = 42;
            flag.set(1);
        }, () -> {
            Pair.poll(flag::get);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicInteger flag = new AtomicInteger();
        return Pair.together(() -> {
            flag.set(1);
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            Pair.poll(flag::get);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicIntegerSetGet::good, AtomicIntegerSetGet::bad);
    }
}
