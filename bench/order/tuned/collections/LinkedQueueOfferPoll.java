// Promise: ConcurrentLinkedQueue: actions before placing an object happen-before actions after its access or
// removal by another thread.
// Way: a ConcurrentLinkedQueue known as a Queue.
// Bad twin: the object is written after it was offered.
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

class LinkedQueueOfferPoll {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Queue<Cell> queue = new ConcurrentLinkedQueue<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            queue.offer(made);
        }, () -> {
            Pair.until(() -> queue.peek() != null);
            return queue.poll().value;
        });
    }

    static int bad() throws Exception {
        Queue<Cell> queue = new ConcurrentLinkedQueue<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            queue.offer(made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> queue.peek() != null);
            Cell taken = queue.poll();
            return Pair.repeatRead(() -> taken.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LinkedQueueOfferPoll::good, LinkedQueueOfferPoll::bad);
    }
}
