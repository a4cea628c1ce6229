// Promise: JLS 17.4.5: a write of a volatile field happens-before every later read of that field.
// Way: a static field.
// Bad twin: the reader reads the cell before it reads the flag.
class VolatileStaticFlag {
    static class Cell {
        int value;
    }

    static volatile boolean raised;

    static int good() throws Exception {
        Cell cell = new Cell();
        raised = false;
        return Pair.together(() -> {
            cell.value = 42;
            raised = true;
        }, () -> {
            Pair.until(() -> raised);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        raised = false;
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            raised = true;
        }, () -> {
            int seen = Pair.repeatRead(() -> cell.value);
            Pair.until(() -> raised);
            return seen;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileStaticFlag::good, VolatileStaticFlag::bad);
    }
}
