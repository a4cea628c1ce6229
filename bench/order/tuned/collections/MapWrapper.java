// Promise: ConcurrentMap: actions before putting an object happen-before actions after its access by another
// thread.
// Way: a class of one's own delegates to a ConcurrentHashMap; it extends AbstractMap.
// Bad twin: the wrapper keeps a plain copy of the last cell, which it returns instead.
import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

class MapWrapper {
    static class Cell {
        int value;
    }

    static class Registry extends AbstractMap<String, Cell> {
        private final Map<String, Cell> entries = new ConcurrentHashMap<>();
        private final Cell last = new Cell();

        @Override
        public Cell put(String key, Cell value) {
            return entries.put(key, value);
        }

        @Override
        public Set<Map.Entry<String, Cell>> entrySet() {
            return entries.entrySet();
        }

        Cell last() {
            return last;
        }
    }

    static int good() throws Exception {
        Registry registry = new Registry();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            registry.put("answer", made);
        }, () -> {
            Pair.until(() -> registry.containsKey("answer"));
            return registry.get("answer").value;
        });
    }

    static int bad() throws Exception {
        Registry registry = new Registry();
        return Pair.together(() -> Pair.repeat(() -> registry.last().value = 42),
                () -> Pair.repeatRead(() -> registry.last().value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapWrapper::good, MapWrapper::bad);
    }
}
