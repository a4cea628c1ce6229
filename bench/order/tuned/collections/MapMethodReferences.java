// Promise: ConcurrentMap: actions before putting an object happen-before actions after its access by another
// thread.
// Way: put and get are passed as method references.
// Bad twin: the get reference is of another map.
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;

class MapMethodReferences {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Map<String, Cell> map = new ConcurrentHashMap<>();
        BiFunction<String, Cell, Cell> put = map::put;
        Function<String, Cell> get = map::get;
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            put.apply("answer", made);
        }, () -> {
            Pair.until(() -> get.apply("answer") != null);
            return get.apply("answer").value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Map<String, Cell> map = new ConcurrentHashMap<>();
        BiFunction<String, Cell, Cell> put = map::put;
        Function<String, Cell> get = new ConcurrentHashMap<String, Cell>()::get;
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            put.apply("answer", cell);
        }), () -> Pair.repeatRead(() -> get.apply("answer") == null ? cell.value : -1));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MapMethodReferences::good, MapMethodReferences::bad);
    }
}
