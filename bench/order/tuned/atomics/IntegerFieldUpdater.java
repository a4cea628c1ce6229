// Promise: AtomicIntegerFieldUpdater: its methods access the volatile field with volatile effects.
// Way: a field updater writes, the field is read directly.
// Bad twin: the updater is for another field of the object.
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

class IntegerFieldUpdater {
    static class Cell {
        int value;
    }

    static class Flags {
        volatile int ready;
        volatile int unrelated;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicIntegerFieldUpdater<Flags> ready = AtomicIntegerFieldUpdater.newUpdater(Flags.class, "ready");
        Flags flags = new Flags();
        return Pair.together(() -> {
            cell.value = 42;
            ready.set(flags, 1);
        }, () -> {
            Pair.poll(() -> flags.ready);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicIntegerFieldUpdater<Flags> updater = AtomicIntegerFieldUpdater.newUpdater(Flags.class, "unrelated");
        Flags flags = new Flags();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            updater.set(flags, 1);
        }), () -> Pair.repeatRead(() -> flags.ready == 1 ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, IntegerFieldUpdater::good, IntegerFieldUpdater::bad);
    }
}
