// Promise: java.lang.ref, memory consistency: enqueueing a reference happens-before its removal from the queue.
// Way: Reference.enqueue by one thread, ReferenceQueue.remove by the other.
// Bad twin: the writer writes after it has enqueued.
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

class EnqueueRemove {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        Object referent = new Object();
        WeakReference<Object> reference = new WeakReference<>(referent, queue);
        int seen = Pair.together(() -> {
            cell.value = 42;
            reference.enqueue();
        }, () -> queue.remove(8_000) == reference ? cell.value : -1);
        Reference.reachabilityFence(referent);
        return seen;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        Object referent = new Object();
        WeakReference<Object> reference = new WeakReference<>(referent, queue);
        int seen = Pair.together(() -> {
            reference.enqueue();
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            queue.remove(8_000);
            return Pair.repeatRead(() -> cell.value);
        });
        Reference.reachabilityFence(referent);
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, EnqueueRemove::good, EnqueueRemove::bad);
    }
}
