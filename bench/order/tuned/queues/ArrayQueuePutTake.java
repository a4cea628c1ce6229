// Promise: BlockingQueue: actions before placing an object happen-before actions after its access or removal by
// another thread.
// Way: an ArrayBlockingQueue known as a BlockingQueue, put and take.
// Bad twin: the object is written after it was put.
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

class ArrayQueuePutTake {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        BlockingQueue<Cell> queue = new ArrayBlockingQueue<>(1);
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            queue.put(made);
        }, () -> queue.take().value);
    }

    static int bad() throws Exception {
        BlockingQueue<Cell> queue = new ArrayBlockingQueue<>(1);
        return Pair.together(() -> {
            Cell made = new Cell();
            queue.put(made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Cell taken = queue.take();
            return Pair.repeatRead(() -> taken.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ArrayQueuePutTake::good, ArrayQueuePutTake::bad);
    }
}
