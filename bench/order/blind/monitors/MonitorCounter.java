// Promise: JLS 17.4.5: each unlock of a monitor happens-before each later lock of it.
// Way: both threads increment under one monitor; the result is read after both were joined.
// Bad twin: one of them increments outside the monitor.
class MonitorCounter {
    static class Cell {
        int value;
    }

    static void addHalf(Cell cell, Object lock) {
        for (int round = 0; round < 21; round++) {
            synchronized (lock) {
                cell.value++;
            }
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Object lock = new Object();
        Pair.together(() -> addHalf(cell, lock), () -> {
            addHalf(cell, lock);
            return 0;
        });
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Object lock = new Object();
        Pair.together(() -> Pair.repeat(() -> addHalf(cell, lock)), () -> Pair.repeatRead(() -> cell.value++));
        return cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorCounter::good, MonitorCounter::bad);
    }
}
