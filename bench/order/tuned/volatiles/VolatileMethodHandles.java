// Promise: MethodHandles.Lookup.findSetter and findGetter give access as bytecode does; JLS 17.4.5: a volatile
// write happens-before every later read.
// Way: the volatile field is accessed by method handles.
// Bad twin: the reader's method handle does not access the flag, only the cell.
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

class VolatileMethodHandles {
    static class Cell {
        int value;
    }

    static class Flag {
        volatile int raised;
    }

    static void set(MethodHandle setter, Object object) {
        try {
            setter.invoke(object, 1);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static int get(MethodHandle getter, Object object) {
        try {
            return (int) getter.invoke(object);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        MethodHandle setter = MethodHandles.lookup().findSetter(Flag.class, "raised", int.class);
        MethodHandle getter = MethodHandles.lookup().findGetter(Flag.class, "raised", int.class);
        return Pair.together(() -> {
            cell.value = 42;
            set(setter, flag);
        }, () -> {
            Pair.poll(() -> get(getter, flag));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        MethodHandle setter = MethodHandles.lookup().findSetter(Flag.class, "raised", int.class);
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            set(setter, flag);
        }), () -> Pair.repeatRead(() -> cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileMethodHandles::good, VolatileMethodHandles::bad);
    }
}
