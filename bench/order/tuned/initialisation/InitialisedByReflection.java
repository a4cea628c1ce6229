// Promise: JLS 12.4.1 and Method.invoke: a reflective call of a static method initialises its class; 12.4.2 orders
// the users.
// Way: both threads call a static method by reflection.
// Bad twin: the static method itself writes at each call.
import java.lang.reflect.Method;

class InitialisedByReflection {
    static class Cell {
        int value;
    }

    static class Service {
        static final Cell cell = new Cell();

        static {
            Pair.pause();
            cell.value = 42;
        }

        static int get() {
            return cell.value;
        }

        static int change() {
            cell.value = 42;
            return 42;
        }
    }

    static int good() throws Exception {
        Method get = Service.class.getDeclaredMethod("get");
        return Pair.together(() -> get.invoke(null), () -> (int) get.invoke(null));
    }

    static int bad() throws Exception {
        Method get = Service.class.getDeclaredMethod("get");
        Method change = Service.class.getDeclaredMethod("change");
        return Pair.together(() -> Pair.repeat(() -> change.invoke(null)),
                () -> Pair.repeatRead(() -> (int) get.invoke(null)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InitialisedByReflection::good, InitialisedByReflection::bad);
    }
}
