// Promise: Hashtable is synchronized: its methods lock the table (JLS 8.4.3.6, 17.4.5).
// Way: a Properties object, a subclass, known as a Map.
// Bad twin: the threads use two tables that hold the same cell.
import java.util.Hashtable;
import java.util.Map;
import java.util.Properties;

class HashtablePut {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Map<Object, Object> table = new Properties();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            table.put("answer", made);
        }, () -> {
            Pair.until(() -> table.get("answer") != null);
            return ((Cell) table.get("answer")).value;
        });
    }

    static int bad() throws Exception {
        Map<String, Cell> one = new Hashtable<>();
        Map<String, Cell> other = new Hashtable<>();
        Cell shared = new Cell();
        one.put("answer", shared);
        other.put("answer", shared);
        return Pair.together(() -> Pair.repeat(() -> one.get("answer").value = 42),
                () -> Pair.repeatRead(() -> other.get("answer").value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HashtablePut::good, HashtablePut::bad);
    }
}
