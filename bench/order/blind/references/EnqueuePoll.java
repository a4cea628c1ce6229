// Promise: java.lang.ref, memory consistency: enqueueing a reference happens-before its removal from the queue.
// Way: a subclass of PhantomReference that carries a cell; ReferenceQueue.poll until there is something.
// Bad twin: poll returns null, and the cell is read all the same.
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicReference;

class EnqueuePoll {
    static class Cell {
        int value;
    }

    static class Carrier extends PhantomReference<Object> {
        final Cell cell = new Cell();

        Carrier(Object referent, ReferenceQueue<Object> queue) {
            super(referent, queue);
        }
    }

    static int good() throws Exception {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        Carrier carrier = new Carrier(queue, queue);
        return Pair.together(() -> {
            carrier.cell.value = 42;
            carrier.enqueue();
        }, () -> {
            AtomicReference<Reference<?>> got = new AtomicReference<>();
            Pair.until(() -> {
                got.set(queue.poll());
                return got.get() != null;
            });
            return ((Carrier) got.get()).cell.value;
        });
    }

    static int bad() throws Exception {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        Carrier carrier = new Carrier(queue, queue);
        return Pair.together(() -> {
            Pair.repeat(() -> carrier.cell.value = 42);
            carrier.enqueue();
        }, () -> Pair.repeatRead(() -> queue.poll() == null ? carrier.cell.value : -1));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, EnqueuePoll::good, EnqueuePoll::bad);
    }
}
