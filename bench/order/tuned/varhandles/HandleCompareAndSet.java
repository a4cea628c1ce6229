// Promise: VarHandle.compareAndSet reads and writes with volatile effects.
// Way: a lock of one's own: compareAndSet to lock, setVolatile to unlock.
// Bad twin: the writer unlocks before it writes.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleCompareAndSet {
    static class Cell {
        int value;
    }

    static class SpinLock {
        int held;
        static final VarHandle HELD = find();

        private static VarHandle find() {
            try {
                return MethodHandles.lookup().findVarHandle(SpinLock.class, "held", int.class);
            } catch (ReflectiveOperationException missing) {
                throw new IllegalStateException(missing);
            }
        }

        void lock() throws Exception {
            Pair.until(() -> HELD.compareAndSet(this, 0, 1));
        }

        void unlock() {
            HELD.setVolatile(this, 0);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        SpinLock lock = new SpinLock();
        return Pair.together(() -> {
            lock.lock();
            cell.value = 42;
            lock.unlock();
        }, () -> Pair.poll(() -> {
            lock.lock();
            int seen = cell.value;
            lock.unlock();
            return seen;
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        SpinLock lock = new SpinLock();
        return Pair.together(() -> Pair.repeat(() -> {
            lock.lock();
            lock.unlock();
            cell.value = 42;
        }), () -> Pair.repeatRead(() -> {
            lock.lock();
            int seen = cell.value;
            lock.unlock();
            return seen;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleCompareAndSet::good, HandleCompareAndSet::bad);
    }
}
