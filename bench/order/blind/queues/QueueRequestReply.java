// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread.
// Way: a request through one queue, and the reply through another.
// Bad twin: the reply is not awaited.
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

class QueueRequestReply {
    static class Cell {
        int value;
    }

    static int ask(boolean waits) throws Exception {
        Cell cell = new Cell();
        BlockingQueue<String> there = new ArrayBlockingQueue<>(1);
        BlockingQueue<String> back = new ArrayBlockingQueue<>(1);
        return Pair.together(() -> {
            there.take();
            Pair.repeat(() -> cell.value = 42);
            back.put("done");
        }, () -> {
            there.put("go");
            if (waits) {
                back.take();
            }
            return Pair.repeatRead(() -> cell.value);
        });
    }

    static int good() throws Exception {
        return ask(true);
    }

    static int bad() throws Exception {
        return ask(false);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, QueueRequestReply::good, QueueRequestReply::bad);
    }
}
