// Promise: JLS 17.5.1: the elements of an array behind a final field, and what they lead to, are as new as the end
// of the constructor.
// Way: an array of objects behind a final field; the outer reference is passed in opaque mode.
// Bad twin: an element is changed after the constructor has ended.
import java.util.concurrent.atomic.AtomicReference;

class FinalArray {
    static class Cell {
        int value;
    }

    static class Row {
        final Cell[] cells;

        Row() {
            cells = new Cell[] {new Cell()};
            cells[0].value = 42;
        }
    }

    static int good() throws Exception {
        AtomicReference<Row> published = new AtomicReference<>();
        return Pair.together(() -> published.setOpaque(new Row()), () -> {
            Pair.until(() -> published.getOpaque() != null);
            return published.getOpaque().cells[0].value;
        });
    }

    static int bad() throws Exception {
        AtomicReference<Row> published = new AtomicReference<>();
        return Pair.together(() -> {
            Row row = new Row();
            published.setOpaque(row);
            Pair.repeat(() -> row.cells[0].value = 43);
        }, () -> {
            Pair.until(() -> published.getOpaque() != null);
            return Pair.repeatRead(() -> published.getOpaque().cells[0].value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FinalArray::good, FinalArray::bad);
    }
}
