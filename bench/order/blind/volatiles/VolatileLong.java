// Promise: JLS 17.4.5 and 17.7: volatile long fields are atomic and order as every volatile field.
// Way: a long field as a time stamp.
// Bad twin: the long field is accessed by nobody but the writer.
class VolatileLong {
    static class Cell {
        int value;
    }

    static class Stamp {
        volatile long time;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Stamp stamp = new Stamp();
        return Pair.together(() -> {
            cell.value = 42;
            stamp.time = 1L << 40;
        }, () -> {
            Pair.until(() -> stamp.time != 0);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Stamp stamp = new Stamp();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            stamp.time = 1L << 40;
        }), () -> Pair.repeatRead(() -> cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileLong::good, VolatileLong::bad);
    }
}
