// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread.
// Way: LinkedTransferQueue.transfer and take, through the interface TransferQueue.
// Bad twin: the object is written after transfer has returned.
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TransferQueue;

class TransferQueueTransfer {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        TransferQueue<Cell> queue = new LinkedTransferQueue<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            queue.transfer(made);
        }, () -> queue.take().value);
    }

    static int bad() throws Exception {
        TransferQueue<Cell> queue = new LinkedTransferQueue<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            queue.transfer(made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Cell taken = queue.take();
            return Pair.repeatRead(() -> taken.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, TransferQueueTransfer::good, TransferQueueTransfer::bad);
    }
}
