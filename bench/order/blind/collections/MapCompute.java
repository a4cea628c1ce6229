// Promise: ConcurrentHashMap.compute performs the whole invocation atomically for a key; an update happens-before a
// later retrieval or update of the value.
// Way: both threads add to the cell of one key inside compute.
// Bad twin: each thread adds inside compute of a key of its own, to one cell.
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class MapCompute {
    static class Cell {
        int value;
    }

    static void add(Map<String, Cell> map, String key) {
        for (int round = 0; round < 7; round++) {
            map.compute(key, (name, old) -> {
                old.value += 3;
                return old;
            });
            Pair.pause();
        }
    }

    static int good() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        map.put("one", new Cell());
        Pair.together(() -> add(map, "one"), () -> {
            add(map, "one");
            return 0;
        });
        return map.get("one").value;
    }

    static int bad() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        Cell shared = new Cell();
        map.put("one", shared);
        map.put("other", shared);
        Pair.together(() -> add(map, "one"), () -> {
            add(map, "other");
            return 0;
        });
        return shared.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapCompute::good, MapCompute::bad);
    }
}
