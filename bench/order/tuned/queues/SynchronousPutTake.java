// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread.
// Way: a SynchronousQueue: put and take meet.
// Bad twin: the taker reads a cell that the putter writes after they have met.
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;

class SynchronousPutTake {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        BlockingQueue<String> queue = new SynchronousQueue<>();
        return Pair.together(() -> {
            cell.value = 42;
            queue.put("written");
        }, () -> {
            queue.take();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        BlockingQueue<String> queue = new SynchronousQueue<>();
        return Pair.together(() -> {
            queue.put("begin");
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            queue.take();
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SynchronousPutTake::good, SynchronousPutTake::bad);
    }
}
