// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread.
// Way: drainTo takes everything into a plain list of the taker.
// Bad twin: the taker drains an empty queue and reads a cell that it knows already.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

class QueueDrainTo {
    static class Cell {
        int value;
    }

    static int drain(BlockingQueue<Cell> queue) {
        List<Cell> taken = new ArrayList<>();
        queue.drainTo(taken);
        int sum = 0;
        for (Cell each : taken) {
            sum += each.value;
        }
        return sum;
    }

    static int good() throws Exception {
        BlockingQueue<Cell> queue = new ArrayBlockingQueue<>(4);
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            queue.put(made);
        }, () -> Pair.poll(() -> drain(queue)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        BlockingQueue<Cell> queue = new ArrayBlockingQueue<>(64);
        BlockingQueue<Cell> empty = new ArrayBlockingQueue<>(4);
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            queue.put(cell);
        }), () -> Pair.repeatRead(() -> drain(empty) + cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, QueueDrainTo::good, QueueDrainTo::bad);
    }
}
