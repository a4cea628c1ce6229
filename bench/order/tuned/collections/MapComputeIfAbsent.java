// Promise: ConcurrentHashMap.computeIfAbsent is atomic; who gets the value comes after its computation.
// Way: both threads compute; only one runs the function, which fills the cell.
// Bad twin: the threads ask with containsKey and fill the value after they have put it.
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

class MapComputeIfAbsent {
    static class Cell {
        int value;
    }

    static Cell filled() {
        Cell made = new Cell();
        made.value = 42;
        return made;
    }

    static int good() throws Exception {
        ConcurrentMap<String, Cell> map = new ConcurrentHashMap<>();
        return Pair.together(() -> map.computeIfAbsent("answer", key -> filled()),
                () -> map.computeIfAbsent("answer", key -> filled()).value);
    }

    static int bad() throws Exception {
        ConcurrentMap<String, Cell> map = new ConcurrentHashMap<>();
        return Pair.together(() -> Pair.repeat(() -> {
            map.putIfAbsent("answer", new Cell());
            map.get("answer").value = 42;
        }), () -> Pair.repeatRead(() -> {
            map.putIfAbsent("answer", new Cell());
            return map.get("answer").value;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapComputeIfAbsent::good, MapComputeIfAbsent::bad);
    }
}
