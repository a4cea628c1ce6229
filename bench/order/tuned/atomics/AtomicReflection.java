// Promise: java.util.concurrent.atomic: set and get have volatile effects; Method.invoke calls as the source would.
// Way: set and get called by reflection.
// Bad twin: the reader calls toString of another AtomicInteger by reflection.
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;

class AtomicReflection {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicInteger flag = new AtomicInteger();
        Method set = AtomicInteger.class.getMethod("set", int.class);
        Method get = AtomicInteger.class.getMethod("get");
        return Pair.together(() -> {
            cell.value = 42;
            set.invoke(flag, 1);
        }, () -> {
            Pair.poll(() -> (int) get.invoke(flag));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicInteger flag = new AtomicInteger();
        AtomicInteger other = new AtomicInteger();
        Method set = AtomicInteger.class.getMethod("set", int.class);
        Method toString = AtomicInteger.class.getMethod("toString");
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            set.invoke(flag, 1);
        }), () -> Pair.repeatRead(() -> toString.invoke(other).equals("1") ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicReflection::good, AtomicReflection::bad);
    }
}
