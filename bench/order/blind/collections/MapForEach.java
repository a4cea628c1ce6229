// Promise: ConcurrentMap: actions before putting an object happen-before actions after its access by another
// thread, by iteration too.
// Way: forEach with a lambda, and an iterator over values.
// Bad twin: the objects are changed while another thread iterates.
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

class MapForEach {
    static class Cell {
        int value;
    }

    static int sum(Map<Integer, Cell> map) {
        Cell sum = new Cell();
        map.forEach((key, each) -> sum.value += each.value);
        int twice = sum.value;
        for (Cell each : map.values()) {
            twice += each.value;
        }
        return twice / 2;
    }

    static int good() throws Exception {
        Map<Integer, Cell> map = new ConcurrentHashMap<>();
        return Pair.together(() -> {
            for (int key = 0; key < 14; key++) {
                Cell made = new Cell();
                made.value = 3;
                map.put(key, made);
            }
        }, () -> {
            Pair.until(() -> map.size() == 14 && sum(map) == 42);
            return sum(map);
        });
    }

    static int bad() throws Exception {
        Map<Integer, Cell> map = new ConcurrentHashMap<>();
        for (int key = 0; key < 14; key++) {
            map.put(key, new Cell());
        }
        return Pair.together(() -> Pair.repeat(() -> map.forEach((key, each) -> each.value = 3)),
                () -> Pair.repeatRead(() -> sum(map)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapForEach::good, MapForEach::bad);
    }
}
