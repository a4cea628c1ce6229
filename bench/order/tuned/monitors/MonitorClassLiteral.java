// Promise: JLS 8.4.3.6 with 17.4.5: a static synchronized method and a block on the class literal use one monitor.
// Way: the writer calls a static synchronized method, the reader locks the class literal.
// Bad twin: the reader locks the literal of another class.
class MonitorClassLiteral {
    static class Cell {
        int value;
    }

    static class Table {
        static final Cell cell = new Cell();

        static synchronized void put(int amount) {
            cell.value = amount;
        }
    }

    static int good() throws Exception {
        return Pair.together(() -> Table.put(42), () -> Pair.poll(() -> {
            synchronized (Table.class) {
                return Table.cell.value;
            }
        }));
    }

    static int bad() throws Exception {
        return Pair.together(() -> Pair.repeat(() -> Table.put(42)), () -> Pair.repeatRead(() -> {
            synchronized (Cell.class) {
                return Table.cell.value;
            }
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorClassLiteral::good, MonitorClassLiteral::bad);
    }
}
