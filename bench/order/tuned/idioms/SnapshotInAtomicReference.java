// Promise: java.util.concurrent.atomic: updateAndGet and get of an AtomicReference have volatile effects.
// Way: both threads replace a snapshot by a new one in updateAndGet.
// Bad twin: the function changes the snapshot in place.
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

class SnapshotInAtomicReference {
    static class Cell {
        int value;
    }

    static Cell plus(Cell old, int amount) {
        Cell made = new Cell();
        made.value = old.value + amount;
        return made;
    }

    static Cell plusInPlace(Cell old, int amount) {
        old.value += amount;
        return old;
    }

    static void run(AtomicReference<Cell> state, UnaryOperator<Cell> step) {
        for (int round = 0; round < 7; round++) {
            state.updateAndGet(step);
            Pair.pause();
        }
    }

    static int good() throws Exception {
        AtomicReference<Cell> state = new AtomicReference<>(new Cell());
        Pair.together(() -> run(state, old -> plus(old, 3)), () -> {
            run(state, old -> plus(old, 3));
            return 0;
        });
        return state.get().value;
    }

    static int bad() throws Exception {
        AtomicReference<Cell> state = new AtomicReference<>(new Cell());
        Pair.together(() -> run(state, old -> plusInPlace(old, 3)),
                () -> Pair.repeatRead(() -> state.getPlain().value));
        return state.get().value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SnapshotInAtomicReference::good, SnapshotInAtomicReference::bad);
    }
}
