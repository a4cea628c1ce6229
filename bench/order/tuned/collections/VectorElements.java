// Promise: Vector is synchronized: its methods lock the vector (JLS 8.4.3.6, 17.4.5).
// Way: addElement and elementAt; the vector is known as a List by the reader.
// Bad twin: the element is changed after it was added.
import java.util.List;
import java.util.Vector;

class VectorElements {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Vector<Cell> vector = new Vector<>();
        List<Cell> list = vector;
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            vector.addElement(made);
        }, () -> {
            Pair.until(() -> !list.isEmpty());
            return list.get(0).value;
        });
    }

    static int bad() throws Exception {
        Vector<Cell> vector = new Vector<>();
        List<Cell> list = vector;
        return Pair.together(() -> {
            Cell made = new Cell();
            vector.addElement(made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> !list.isEmpty());
            return Pair.repeatRead(() -> list.get(0).value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VectorElements::good, VectorElements::bad);
    }
}
