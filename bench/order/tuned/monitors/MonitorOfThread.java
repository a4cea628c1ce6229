// Promise: JLS 17.1 with 17.4.5: the monitor of a Thread object is a monitor as any other.
// Way: the threads lock the Thread object of a third, which never runs.
// Bad twin: each thread locks its own Thread object.
class MonitorOfThread {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Thread lock = new Thread();
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
        return Pair.together(() -> Pair.repeat(() -> {
            synchronized (Thread.currentThread()) {
                cell.value = 42;
            }
        }), () -> Pair.repeatRead(() -> {
            synchronized (Thread.currentThread()) {
                return cell.value;
            }
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorOfThread::good, MonitorOfThread::bad);
    }
}
