// Promise: Collections.newSetFromMap has the concurrency properties of its map; ConcurrentMap: putting happens-
// before access.
// Way: a Set over a ConcurrentHashMap, and ConcurrentHashMap.newKeySet.
// Bad twin: the reader finds the key in another set.
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

class SetFromMap {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Set<String> done = Collections.newSetFromMap(new ConcurrentHashMap<>());
        Set<String> also = ConcurrentHashMap.newKeySet();
        return Pair.together(() -> {
            cell.value = 42;
            done.add("write");
            also.add("write");
        }, () -> {
            Pair.until(() -> done.contains("write") && also.contains("write"));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Set<String> done = Collections.newSetFromMap(new ConcurrentHashMap<>());
        Set<String> also = ConcurrentHashMap.newKeySet();
        also.add("write");
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            done.add("write");
        }, () -> {
            Pair.until(() -> also.contains("write"));
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SetFromMap::good, SetFromMap::bad);
    }
}
