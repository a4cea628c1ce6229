// Promise: Collections.synchronizedMap: the user synchronizes on the map when iterating over its views, with the
// monitor that put uses.
// Way: put by one thread; the other iterates inside a block on the map.
// Bad twin: the iterating thread synchronizes on the view instead of the map, and the writer changes a value under
// the map's monitor.
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

class SynchronizedMapIteration {
    static class Cell {
        int value;
    }

    static int sum(Map<String, Cell> map, Object lock) {
        int sum = 0;
        synchronized (lock) {
            for (Cell each : map.values()) {
                sum += each.value;
            }
        }
        return sum;
    }

    static int good() throws Exception {
        Map<String, Cell> map = Collections.synchronizedMap(new HashMap<>());
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            map.put("answer", made);
        }, () -> Pair.poll(() -> sum(map, map)));
    }

    static int bad() throws Exception {
        Map<String, Cell> plain = new HashMap<>();
        plain.put("answer", new Cell());
        Map<String, Cell> map = Collections.synchronizedMap(plain);
        return Pair.together(() -> Pair.repeat(() -> {
            synchronized (map) {
                plain.get("answer").value = 42;
            }
        }), () -> Pair.repeatRead(() -> sum(plain, plain.values())));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SynchronizedMapIteration::good, SynchronizedMapIteration::bad);
    }
}
