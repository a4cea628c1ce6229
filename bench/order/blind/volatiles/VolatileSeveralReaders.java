// Promise: JLS 17.4.5: a volatile write happens-before every later read, by whatever thread.
// Way: two readers wait for one flag, one of them is the main thread.
// Bad twin: one of the readers waits, the other does not.
class VolatileSeveralReaders {
    static class Cell {
        int value;
    }

    static class Flag {
        volatile boolean raised;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        Thread writer = new Thread(() -> {
            cell.value = 21;
            flag.raised = true;
        });
        writer.start();
        int first = Pair.together(() -> Thread.yield(), () -> {
            Pair.until(() -> flag.raised);
            return cell.value;
        });
        Pair.until(() -> flag.raised);
        return first + cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        Thread other = new Thread(() -> {
            while (!flag.raised) {
                Thread.yield();
            }
        });
        other.start();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            flag.raised = true;
        }, () -> Pair.repeatRead(() -> cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileSeveralReaders::good, VolatileSeveralReaders::bad);
    }
}
