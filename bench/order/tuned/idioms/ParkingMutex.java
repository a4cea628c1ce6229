// Promise: java.util.concurrent.atomic with LockSupport: the mutex of LockSupport's class comment orders by
// compareAndSet and set.
// Way: a first-in-first-out mutex of AtomicBoolean, ConcurrentLinkedQueue and park.
// Bad twin: the mutex is a new one in each call.
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

class ParkingMutex {
    static class Cell {
        int value;
    }

    static class Mutex {
        private final AtomicBoolean locked = new AtomicBoolean();
        private final Queue<Thread> waiters = new ConcurrentLinkedQueue<>();

        void lock() {
            Thread current = Thread.currentThread();
            waiters.add(current);
            while (waiters.peek() != current || !locked.compareAndSet(false, true)) {
                LockSupport.parkNanos(this, 100_000L);
            }
            waiters.remove();
        }

        void unlock() {
            locked.set(false);
            LockSupport.unpark(waiters.peek());
        }
    }

    static int locked(Supplier<Mutex> mutexes, Pair.Reading inside) throws Exception {
        Mutex mutex = mutexes.get();
        mutex.lock();
        int seen = inside.read();
        mutex.unlock();
        return seen;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Mutex mutex = new Mutex();
        return Pair.together(() -> locked(() -> mutex, () -> cell.value = 42),
                () -> Pair.poll(() -> locked(() -> mutex, () -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        return Pair.together(() -> Pair.repeat(() -> locked(Mutex::new, () -> cell.value = 42)),
                () -> Pair.repeatRead(() -> locked(Mutex::new, () -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ParkingMutex::good, ParkingMutex::bad);
    }
}
