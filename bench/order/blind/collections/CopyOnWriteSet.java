// Promise: java.util.concurrent, memory consistency: adding to a concurrent collection happens-before access by
// another thread.
// Way: a CopyOnWriteArraySet of listeners, which are method references.
// Bad twin: the listener's object is filled after it was added.
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.IntSupplier;

class CopyOnWriteSet {
    static class Cell {
        int value;
    }

    static class Listener {
        final Cell cell = new Cell();

        int ask() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        Set<IntSupplier> listeners = new CopyOnWriteArraySet<>();
        return Pair.together(() -> {
            Listener listener = new Listener();
            listener.cell.value = 42;
            listeners.add(listener::ask);
        }, () -> Pair.poll(() -> listeners.stream().mapToInt(IntSupplier::getAsInt).sum()));
    }

    static int bad() throws Exception {
        Set<IntSupplier> listeners = new CopyOnWriteArraySet<>();
        return Pair.together(() -> {
            Listener listener = new Listener();
            listeners.add(listener::ask);
            Pair.repeat(() -> listener.cell.value = 42);
        }, () -> {
            Pair.until(() -> !listeners.isEmpty());
            return Pair.repeatRead(() -> listeners.stream().mapToInt(IntSupplier::getAsInt).sum());
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CopyOnWriteSet::good, CopyOnWriteSet::bad);
    }
}
