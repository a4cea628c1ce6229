// Promise: BlockingQueue: actions before placing an object happen-before actions after its access or removal by
// another thread.
// Way: a LinkedBlockingQueue, offer and poll with a limit.
// Bad twin: poll returns null because its limit is over, and the cell is read all the same.
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

class LinkedQueuePutTake {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        return Pair.together(() -> {
            cell.value = 42;
            queue.offer("written", 8, TimeUnit.SECONDS);
        }, () -> queue.poll(8, TimeUnit.SECONDS) == null ? -1 : cell.value);
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        BlockingQueue<String> queue = new LinkedBlockingQueue<>();
        return Pair.together(() -> {
            for (int round = 0; round < 3; round++) {
                Pair.repeat(() -> cell.value = 42);
            }
            queue.offer("written", 8, TimeUnit.SECONDS);
        }, () -> {
            String message = queue.poll(1, TimeUnit.MILLISECONDS);
            return Pair.repeatRead(() -> message == null ? cell.value : -1);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LinkedQueuePutTake::good, LinkedQueuePutTake::bad);
    }
}
