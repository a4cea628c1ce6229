// Promise: VarHandle.compareAndExchangeAcquire reads with acquire effects, setRelease writes with release effects.
// Way: a lock that needs no more than these.
// Bad twin: the threads use two locks.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleAcquireReleaseLock {
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

        int locked(Pair.Reading inside) throws Exception {
            Pair.until(() -> (int) HELD.compareAndExchangeAcquire(this, 0, 1) == 0);
            int seen = inside.read();
            HELD.setRelease(this, 0);
            return seen;
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        SpinLock lock = new SpinLock();
        return Pair.together(() -> lock.locked(() -> cell.value = 42),
                () -> Pair.poll(() -> lock.locked(() -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        SpinLock one = new SpinLock();
        SpinLock other = new SpinLock();
        return Pair.together(() -> Pair.repeat(() -> one.locked(() -> cell.value = 42)),
                () -> Pair.repeatRead(() -> other.locked(() -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleAcquireReleaseLock::good, HandleAcquireReleaseLock::bad);
    }
}
