// Promise: ConcurrentMap: actions before putting an object happen-before actions after its access; Method.invoke
// calls as the source would.
// Way: put and get by reflection.
// Bad twin: the object is changed after the reflective put.
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class MapReflection {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        Method put = Map.class.getMethod("put", Object.class, Object.class);
        Method get = Map.class.getMethod("get", Object.class);
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            put.invoke(map, "answer", made);
        }, () -> {
            Pair.until(() -> get.invoke(map, "answer") != null);
            return ((Cell) get.invoke(map, "answer")).value;
        });
    }

    static int bad() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        Method put = Map.class.getMethod("put", Object.class, Object.class);
        Method get = Map.class.getMethod("get", Object.class);
        return Pair.together(() -> {
            Cell made = new Cell();
            put.invoke(map, "answer", made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> get.invoke(map, "answer") != null);
            return Pair.repeatRead(() -> ((Cell) get.invoke(map, "answer")).value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapReflection::good, MapReflection::bad);
    }
}
