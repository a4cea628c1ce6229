// Promise: JLS 17.4.5: an unlock of a monitor happens-before every later lock of it.
// Way: the synchronized methods are called through method references.
// Bad twin: the references lead to methods of two objects that share the cell, and have a monitor each.
class MonitorMethodReference {
    static class Cell {
        int value;
    }

    static class Account {
        final Cell cell;

        Account(Cell cell) {
            this.cell = cell;
        }

        synchronized void put() {
            cell.value = 42;
        }

        synchronized int get() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        Account account = new Account(new Cell());
        Pair.Action put = account::put;
        Pair.Reading get = account::get;
        return Pair.together(put, () -> Pair.poll(get));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Pair.Action put = new Account(cell)::put;
        Pair.Reading get = new Account(cell)::get;
        return Pair.together(() -> Pair.repeat(put), () -> Pair.repeatRead(get));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorMethodReference::good, MonitorMethodReference::bad);
    }
}
