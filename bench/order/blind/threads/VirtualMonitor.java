// since 21
// Promise: JLS 17.4.5: an unlock of a monitor happens-before every later lock of it; virtual threads are threads.
// Way: synchronized blocks in two virtual threads.
// Bad twin: one of them does not lock.
class VirtualMonitor {
    static class Cell {
        int value;
    }

    static Thread adder(Cell cell, Object lock) {
        return VirtualThreads.start(() -> {
            for (int round = 0; round < 7; round++) {
                synchronized (lock) {
                    cell.value += 3;
                }
                Pair.pause();
            }
        });
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Object lock = new Object();
        Thread first = adder(cell, lock);
        Thread second = adder(cell, lock);
        first.join();
        second.join();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread first = adder(cell, new Object());
        Thread second = adder(cell, new Object());
        first.join();
        second.join();
        return cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VirtualMonitor::good, VirtualMonitor::bad);
    }
}
