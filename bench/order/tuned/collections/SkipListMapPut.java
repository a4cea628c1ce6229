// Promise: java.util.concurrent, memory consistency: putting into a concurrent collection happens-before access by
// another thread.
// Way: a ConcurrentSkipListMap known as a NavigableMap.
// Bad twin: the object is filled after it was put.
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

class SkipListMapPut {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        NavigableMap<Integer, Cell> map = new ConcurrentSkipListMap<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            map.put(7, made);
        }, () -> {
            Pair.until(() -> map.firstEntry() != null);
            return map.firstEntry().getValue().value;
        });
    }

    static int bad() throws Exception {
        NavigableMap<Integer, Cell> map = new ConcurrentSkipListMap<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            map.put(7, made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> map.firstEntry() != null);
            return Pair.repeatRead(() -> map.firstEntry().getValue().value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SkipListMapPut::good, SkipListMapPut::bad);
    }
}
