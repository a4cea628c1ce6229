// Promise: JLS 17.4.5: a volatile write happens-before every later read, also in the way back.
// Way: the reader says by a volatile flag that it has read; only then does the writer write again.
// Bad twin: the writer writes again without waiting for the reader.
class VolatileHandBack {
    static class Cell {
        int value;
    }

    static class Flags {
        volatile boolean written;
        volatile boolean read;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flags flags = new Flags();
        return Pair.together(() -> {
            cell.value = 42;
            flags.written = true;
            Pair.until(() -> flags.read);
            cell.value = 7;
        }, () -> {
            Pair.until(() -> flags.written);
            int seen = cell.value;
            flags.read = true;
            return seen;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flags flags = new Flags();
        return Pair.together(() -> {
            cell.value = 42;
            flags.written = true;
            Pair.repeat(() -> cell.value = 7);
        }, () -> {
            Pair.until(() -> flags.written);
            int seen = Pair.repeatRead(() -> cell.value);
            flags.read = true;
            return seen;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileHandBack::good, VolatileHandBack::bad);
    }
}
