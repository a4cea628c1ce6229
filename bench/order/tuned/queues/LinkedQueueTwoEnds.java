// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread; two placings order nothing.
// Way: the reader takes what the writer put.
// Bad twin: both threads put, each into a queue of its own, and nobody takes.
import java.util.concurrent.LinkedBlockingQueue;

class LinkedQueueTwoEnds {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        LinkedBlockingQueue<Cell> queue = new LinkedBlockingQueue<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            queue.add(made);
        }, () -> queue.take().value);
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<String> other = new LinkedBlockingQueue<>();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            queue.add("writer");
        }), () -> Pair.repeatRead(() -> {
            other.add("reader");
            return cell.value;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LinkedQueueTwoEnds::good, LinkedQueueTwoEnds::bad);
    }
}
