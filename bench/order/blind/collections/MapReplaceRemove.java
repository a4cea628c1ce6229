// Promise: ConcurrentMap: actions before putting an object happen-before actions after its removal by another
// thread.
// Way: replace by one thread, remove by the other.
// Bad twin: the old value, which was replaced and which the reader still holds, is written again.
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

class MapReplaceRemove {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        ConcurrentMap<String, Cell> map = new ConcurrentHashMap<>();
        Cell empty = new Cell();
        map.put("answer", empty);
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            map.replace("answer", empty, made);
        }, () -> {
            Pair.until(() -> map.get("answer") != empty);
            return map.remove("answer").value;
        });
    }

    static int bad() throws Exception {
        ConcurrentMap<String, Cell> map = new ConcurrentHashMap<>();
        Cell old = new Cell();
        map.put("answer", old);
        return Pair.together(() -> {
            map.replace("answer", old, new Cell());
            Pair.repeat(() -> old.value = 42);
        }, () -> Pair.repeatRead(() -> old.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapReplaceRemove::good, MapReplaceRemove::bad);
    }
}
