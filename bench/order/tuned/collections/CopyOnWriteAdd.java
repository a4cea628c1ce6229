// Promise: CopyOnWriteArrayList: actions before placing an object happen-before actions after its access by another
// thread.
// Way: a CopyOnWriteArrayList known as a List, read by an iterator.
// Bad twin: the object is written while it is in the list.
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

class CopyOnWriteAdd {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        List<Cell> list = new CopyOnWriteArrayList<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            list.add(made);
        }, () -> Pair.poll(() -> {
            int sum = 0;
            for (Cell each : list) {
                sum += each.value;
            }
            return sum;
        }));
    }

    static int bad() throws Exception {
        List<Cell> list = new CopyOnWriteArrayList<>();
        list.add(new Cell());
        return Pair.together(() -> Pair.repeat(() -> list.get(0).value = 42),
                () -> Pair.repeatRead(() -> list.get(0).value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CopyOnWriteAdd::good, CopyOnWriteAdd::bad);
    }
}
