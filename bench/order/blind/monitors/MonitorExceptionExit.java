// Promise: JLS 14.19 with 17.4.5: a monitor is released however the block ends, by an exception too.
// Way: the writer leaves its synchronized block by an exception.
// Bad twin: the write is in the handler, after the exception has released the monitor.
class MonitorExceptionExit {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Object lock = new Object();
        return Pair.together(() -> {
            try {
                synchronized (lock) {
                    cell.value = 42;
                    throw new IllegalStateException("leave");
                }
            } catch (IllegalStateException expected) {
                Thread.onSpinWait();
            }
        }, () -> Pair.poll(() -> {
            synchronized (lock) {
                return cell.value;
            }
        }));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Object lock = new Object();
        return Pair.together(() -> Pair.repeat(() -> {
            try {
                synchronized (lock) {
                    throw new IllegalStateException("leave");
                }
            } catch (IllegalStateException expected) {
                cell.value = 42;
            }
        }), () -> Pair.repeatRead(() -> {
            synchronized (lock) {
                return cell.value;
            }
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorExceptionExit::good, MonitorExceptionExit::bad);
    }
}
