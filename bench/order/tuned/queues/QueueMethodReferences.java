// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread.
// Way: add and take are passed as method references to classes that know no queue.
// Bad twin: the consumer does not take from the queue but gets the shared cell by a lambda.
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

class QueueMethodReferences {
    static class Cell {
        int value;
    }

    static class Producer {
        private final Consumer<Cell> out;

        Producer(Consumer<Cell> out) {
            this.out = out;
        }

        void produce(Cell cell) {
            cell.value = 42;
            out.accept(cell);
        }
    }

    static int good() throws Exception {
        BlockingQueue<Cell> queue = new LinkedBlockingQueue<>();
        Producer producer = new Producer(queue::add);
        Callable<Cell> in = queue::take;
        return Pair.together(() -> producer.produce(new Cell()), () -> in.call().value);
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        BlockingQueue<Cell> queue = new LinkedBlockingQueue<>();
        Producer producer = new Producer(queue::add);
        Callable<Cell> in = () -> cell;
        return Pair.together(() -> Pair.repeat(() -> producer.produce(cell)),
                () -> Pair.repeatRead(() -> in.call().value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, QueueMethodReferences::good, QueueMethodReferences::bad);
    }
}
