// Promise: java.util.concurrent.atomic: the elements of an AtomicIntegerArray are accessed with volatile effects.
// Way: set and get of one element.
// Bad twin: the threads use different elements.
import java.util.concurrent.atomic.AtomicIntegerArray;

class AtomicIntegerArrayElements {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicIntegerArray flags = new AtomicIntegerArray(64);
        return Pair.together(() -> {
            cell.value = 42;
            flags.set(3, 1);
        }, () -> {
            Pair.poll(() -> flags.get(3));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicIntegerArray flags = new AtomicIntegerArray(64);
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            flags.set(3, 1);
        }), () -> Pair.repeatRead(() -> flags.get(60) == 1 ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicIntegerArrayElements::good, AtomicIntegerArrayElements::bad);
    }
}
