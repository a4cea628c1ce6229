// Promise: java.util.concurrent.atomic: decrementAndGet has volatile effects; who takes away the last reference
// comes after all others.
// Way: the last one to release an object cleans it up.
// Bad twin: the one who cleans up does not count.
import java.util.concurrent.atomic.AtomicInteger;

class ReferenceCount {
    static class Cell {
        int value;
    }

    static class Counted {
        final Cell cell = new Cell();
        private final AtomicInteger users = new AtomicInteger(2);

        boolean release() {
            return users.decrementAndGet() == 0;
        }
    }

    static void use(Counted shared) {
        int seen = shared.cell.value;
        if (shared.release()) {
            shared.cell.value = seen + 42;
        }
    }

    static int good() throws Exception {
        Counted shared = new Counted();
        Pair.together(() -> use(shared), () -> {
            use(shared);
            return 0;
        });
        return shared.cell.value;
    }

    static int bad() throws Exception {
        Counted shared = new Counted();
        return Pair.together(() -> {
            shared.release();
            Pair.repeat(() -> shared.cell.value = 42);
        }, () -> {
            int seen = Pair.repeatRead(() -> shared.cell.value);
            shared.release();
            return seen;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ReferenceCount::good, ReferenceCount::bad);
    }
}
