// Promise: JLS 17.4.5: an unlock of a monitor happens-before every later lock of that monitor.
// Way: direct, synchronized blocks on one object.
// Bad twin: each thread locks an object of its own.
class MonitorBlock {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Object lock = new Object();
        return Pair.together(() -> {
            synchronized (lock) {
                cell.value = 42;
            }
        }, () -> Pair.poll(() -> {
            synchronized (lock) {
                return cell.value;
            }
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Object one = new Object();
        Object other = new Object();
        return Pair.together(() -> Pair.repeat(() -> {
            synchronized (one) {
                cell.value = 42;
            }
        }), () -> Pair.repeatRead(() -> {
            synchronized (other) {
                return cell.value;
            }
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorBlock::good, MonitorBlock::bad);
    }
}
