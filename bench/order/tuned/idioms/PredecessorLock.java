// Promise: java.util.concurrent.atomic: getAndSet has volatile effects; JLS 17.4.5 for the volatile flag of the
// predecessor.
// Way: the queue lock of Craig, Landin and Hagersten, made of an AtomicReference and a ThreadLocal.
// Bad twin: a thread does not wait for its predecessor.
import java.util.concurrent.atomic.AtomicReference;

class PredecessorLock {
    static class Cell {
        int value;
    }

    static class Turn {
        volatile boolean held;
    }

    static class QueueLock {
        private final AtomicReference<Turn> tail = new AtomicReference<>(new Turn());
        private final ThreadLocal<Turn> own = new ThreadLocal<>();
        private final boolean waits;

        QueueLock(boolean waits) {
            this.waits = waits;
        }

        void lock() throws Exception {
            Turn turn = new Turn();
            turn.held = true;
            own.set(turn);
            if (waits) {
                Turn before = tail.getAndSet(turn);
                Pair.until(() -> !before.held);
            }
        }

        void unlock() {
            own.get().held = false;
        }
    }

    static int locked(QueueLock lock, Pair.Reading inside) throws Exception {
        lock.lock();
        int seen = inside.read();
        lock.unlock();
        return seen;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        QueueLock lock = new QueueLock(true);
        return Pair.together(() -> locked(lock, () -> cell.value = 42),
                () -> Pair.poll(() -> locked(lock, () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        QueueLock lock = new QueueLock(false);
        return Pair.together(() -> Pair.repeat(() -> locked(lock, () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> locked(lock, () -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PredecessorLock::good, PredecessorLock::bad);
    }
}
