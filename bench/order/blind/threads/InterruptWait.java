// Promise: JLS 17.2.3 and 17.4.4: an interrupt happens-before the InterruptedException that ends a wait.
// Way: the interrupt ends Object.wait.
// Bad twin: the wait ends by its time limit, not by the interrupt.
class InterruptWait {
    static class Cell {
        int value;
    }

    static Thread reader(Cell cell, Cell result, long limit) {
        Thread thread = new Thread(() -> {
            Object own = new Object();
            try {
                synchronized (own) {
                    own.wait(limit);
                }
            } catch (InterruptedException expected) {
                Thread.onSpinWait();
            }
            for (int round = 0; round < 5; round++) {
                result.value = cell.value;
                Pair.pause();
            }
        });
        thread.start();
        return thread;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread thread = reader(cell, result, 60_000);
        cell.value = 42;
        thread.interrupt();
        thread.join();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread thread = reader(cell, result, 1);
        Pair.repeat(() -> cell.value = 42);
        thread.join();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InterruptWait::good, InterruptWait::bad);
    }
}
