// Promise: ConcurrentHashMap: an update bears a happens-before relation with a retrieval that reports the updated
// value.
// Way: the reader asks for the key until it is there.
// Bad twin: the reader asks for another key, which is never there, and reads all the same.
import java.util.concurrent.ConcurrentHashMap;

class MapGetNothing {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
        return Pair.together(() -> {
            cell.value = 42;
            map.put(1, 1);
        }, () -> {
            Pair.until(() -> map.containsKey(1));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>(64);
        map.put(0, 0);
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            map.put(1, 1);
        }), () -> Pair.repeatRead(() -> map.containsKey(33) ? -1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapGetNothing::good, MapGetNothing::bad);
    }
}
