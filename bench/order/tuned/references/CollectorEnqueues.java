// Promise: java.lang.ref, memory consistency: actions before reachabilityFence(x) happen-before x's references are
// cleared, that before they are enqueued, and that before they are removed.
// Way: the garbage collector clears a weak reference; the reader removes it from the queue.
// Bad twin: the cell is written by a thread that does not keep the referent reachable.
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReference;

class CollectorEnqueues {
    static class Cell {
        int value;
    }

    static WeakReference<Object> abandon(Cell cell, ReferenceQueue<Object> queue) {
        Object referent = new Object();
        WeakReference<Object> reference = new WeakReference<>(referent, queue);
        cell.value = 42;
        Reference.reachabilityFence(referent);
        return reference;
    }

    static void awaitRemoval(ReferenceQueue<Object> queue) throws Exception {
        Pair.until(() -> {
            System.gc();
            return queue.remove(20) != null;
        });
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        AtomicReference<Object> keep = new AtomicReference<>();
        return Pair.together(() -> keep.setOpaque(abandon(cell, queue)), () -> {
            awaitRemoval(queue);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        WeakReference<Object> reference = abandon(new Cell(), queue);
        int seen = Pair.together(() -> {
            for (int round = 0; round < 5; round++) {
                Pair.repeat(() -> cell.value = 42);
            }
        }, () -> {
            awaitRemoval(queue);
            return Pair.repeatRead(() -> cell.value);
        });
        Reference.reachabilityFence(reference);
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CollectorEnqueues::good, CollectorEnqueues::bad);
    }
}
