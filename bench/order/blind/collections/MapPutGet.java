// Promise: ConcurrentMap: actions before an object is put happen-before actions after it is got by another thread.
// Way: a ConcurrentHashMap known as a Map.
// Bad twin: the object is filled after it was put.
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class MapPutGet {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            map.put("answer", made);
        }, () -> {
            Pair.until(() -> map.get("answer") != null);
            return map.get("answer").value;
        });
    }

    static int bad() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            map.put("answer", made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> map.get("answer") != null);
            Cell found = map.get("answer");
            return Pair.repeatRead(() -> found.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapPutGet::good, MapPutGet::bad);
    }
}
