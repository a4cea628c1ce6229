// Promise: JLS 17.4.4: an interrupt happens-before the InterruptedException that ends a join.
// Way: the reader joins a thread that does not end for long, and is interrupted.
// Bad twin: the reader's join was on a thread that had ended; the interrupt was not seen.
class InterruptJoin {
    static class Cell {
        int value;
    }

    static Thread reader(Cell cell, Cell result, Thread joined) {
        Thread thread = new Thread(() -> {
            try {
                joined.join();
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
        Thread thread = reader(cell, result, Thread.currentThread());
        cell.value = 42;
        thread.interrupt();
        thread.join();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread ended = new Thread();
        ended.start();
        ended.join();
        Thread thread = reader(cell, result, ended);
        Pair.repeat(() -> cell.value = 42);
        thread.join();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InterruptJoin::good, InterruptJoin::bad);
    }
}
