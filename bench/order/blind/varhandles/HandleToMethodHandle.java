// Promise: VarHandle.toMethodHandle: the method handle accesses in the given mode.
// Way: method handles of setRelease and getAcquire.
// Bad twin: method handles of setOpaque and getOpaque.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleToMethodHandle {
    static class Cell {
        int value;
    }

    static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);

    static void set(VarHandle.AccessMode mode, int[] flags) {
        try {
            ELEMENT.toMethodHandle(mode).invoke(flags, 0, 1);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static int get(VarHandle.AccessMode mode, int[] flags) {
        try {
            return (int) ELEMENT.toMethodHandle(mode).invoke(flags, 0);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        int[] flags = new int[1];
        return Pair.together(() -> {
            cell.value = 42;
            set(VarHandle.AccessMode.SET_RELEASE, flags);
        }, () -> {
            Pair.poll(() -> get(VarHandle.AccessMode.GET_ACQUIRE, flags));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        int[] flags = new int[1];
        return Pair.together(() -> {
            set(VarHandle.AccessMode.SET_OPAQUE, flags);
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            Pair.poll(() -> get(VarHandle.AccessMode.GET_OPAQUE, flags));
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleToMethodHandle::good, HandleToMethodHandle::bad);
    }
}
