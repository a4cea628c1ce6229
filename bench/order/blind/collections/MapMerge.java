// Promise: ConcurrentHashMap.merge is atomic for a key; an update happens-before a later update of the value.
// Way: merge with a method reference; cells are immutable in effect once they are in the map.
// Bad twin: the merged cell is changed by its maker after merge.
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class MapMerge {
    static class Cell {
        int value;
    }

    static Cell sum(Cell left, Cell right) {
        Cell made = new Cell();
        made.value = left.value + right.value;
        return made;
    }

    static void merge(Map<String, Cell> map, boolean late) throws Exception {
        Cell own = new Cell();
        own.value = 21;
        map.merge("sum", own, MapMerge::sum);
        if (late) {
            Pair.repeat(() -> own.value = 21);
        }
    }

    static int good() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        Pair.together(() -> merge(map, false), () -> {
            merge(map, false);
            return 0;
        });
        return map.get("sum").value;
    }

    static int bad() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        return Pair.together(() -> merge(map, true), () -> {
            Pair.until(() -> map.containsKey("sum"));
            return Pair.repeatRead(() -> map.get("sum").value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapMerge::good, MapMerge::bad);
    }
}
