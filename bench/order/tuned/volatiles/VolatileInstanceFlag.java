// Promise: JLS 17.4.5: a write of a volatile field happens-before every later read of that field.
// Way: direct, an instance field.
// Bad twin: the reader waits for the volatile flag, but the writer raises it before it writes the cell.
class VolatileInstanceFlag {
    static class Cell {
        int value;
    }

    static class Flag {
        volatile boolean raised;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        return Pair.together(() -> {
            cell.value = 42;
            flag.raised = true;
        }, () -> {
            Pair.until(() -> flag.raised);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        return Pair.together(() -> {
            flag.raised = true;
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            Pair.until(() -> flag.raised);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileInstanceFlag::good, VolatileInstanceFlag::bad);
    }
}
