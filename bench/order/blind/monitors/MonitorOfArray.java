// Promise: JLS 17.1: every object has a monitor, an array too; 17.4.5: its unlock happens-before every later lock.
// Way: the lock is an array.
// Bad twin: the threads lock two equal but different arrays.
class MonitorOfArray {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        int[] lock = new int[1];
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
        int[] one = new int[1];
        int[] other = one.clone();
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
        Pair.main(arguments, MonitorOfArray::good, MonitorOfArray::bad);
    }
}
