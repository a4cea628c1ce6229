// Promise: BlockingQueue: actions before placing an object happen-before actions after its access by another
// thread.
// Way: a LinkedBlockingQueue known as a Collection, read by its iterator.
// Bad twin: the iterator's element is written again by the writer.
import java.util.Collection;
import java.util.concurrent.LinkedBlockingQueue;

class QueueAsCollection {
    static class Cell {
        int value;
    }

    static int sum(Collection<Cell> cells) {
        int sum = 0;
        for (Cell each : cells) {
            sum += each.value;
        }
        return sum;
    }

    static int good() throws Exception {
        Collection<Cell> cells = new LinkedBlockingQueue<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            cells.add(made);
        }, () -> Pair.poll(() -> sum(cells)));
    }

    static int bad() throws Exception {
        Collection<Cell> cells = new LinkedBlockingQueue<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            cells.add(made);
            Pair.repeat(() -> made.value = 42);
        }, () -> Pair.repeatRead(() -> sum(cells)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, QueueAsCollection::good, QueueAsCollection::bad);
    }
}
