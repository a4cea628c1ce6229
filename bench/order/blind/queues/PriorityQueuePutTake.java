// Promise: BlockingQueue: actions before placing an object happen-before actions after its access or removal by
// another thread.
// Way: a PriorityBlockingQueue with a comparator that is a lambda.
// Bad twin: the object's content is changed while it is in the queue.
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;

class PriorityQueuePutTake {
    static class Cell {
        int value;
    }

    static class Job {
        final int rank;
        final Cell cell = new Cell();

        Job(int rank) {
            this.rank = rank;
        }
    }

    static int good() throws Exception {
        BlockingQueue<Job> queue = new PriorityBlockingQueue<>(4, (one, other) -> one.rank - other.rank);
        return Pair.together(() -> {
            Job made = new Job(3);
            made.cell.value = 42;
            queue.put(made);
        }, () -> queue.take().cell.value);
    }

    static int bad() throws Exception {
        BlockingQueue<Job> queue = new PriorityBlockingQueue<>(4, (one, other) -> one.rank - other.rank);
        return Pair.together(() -> {
            Job made = new Job(3);
            queue.put(made);
            Pair.repeat(() -> made.cell.value = 42);
        }, () -> {
            Job taken = queue.take();
            return Pair.repeatRead(() -> taken.cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PriorityQueuePutTake::good, PriorityQueuePutTake::bad);
    }
}
