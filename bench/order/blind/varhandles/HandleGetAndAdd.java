// Promise: VarHandle.getAndAdd reads and writes with volatile effects.
// Way: a counter of finished writers.
// Bad twin: the writer counts in plain mode and the reader asks in opaque mode.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleGetAndAdd {
    static class Cell {
        int value;
    }

    static class Counter {
        int finished;
    }

    static final VarHandle FINISHED = find();

    static VarHandle find() {
        try {
            return MethodHandles.lookup().findVarHandle(Counter.class, "finished", int.class);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Counter counter = new Counter();
        return Pair.together(() -> {
            cell.value = 42;
            FINISHED.getAndAdd(counter, 1);
        }, () -> {
            Pair.poll(() -> (int) FINISHED.getAndAdd(counter, 0));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Counter counter = new Counter();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            FINISHED.setOpaque(counter, 1);
        }, () -> {
            Pair.poll(() -> (int) FINISHED.getOpaque(counter));
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleGetAndAdd::good, HandleGetAndAdd::bad);
    }
}
