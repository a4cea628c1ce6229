// Promise: JLS 17.4.4: interrupting a thread happens-before Thread.interrupted returning true.
// Way: Thread.interrupted, through a method reference.
// Bad twin: the interrupt comes before the write.
import java.util.function.BooleanSupplier;

class InterruptedStatic {
    static class Cell {
        int value;
    }

    static Thread reader(Cell cell, Cell result) {
        BooleanSupplier wasInterrupted = Thread::interrupted;
        Thread thread = new Thread(() -> {
            while (!wasInterrupted.getAsBoolean()) {
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
        Thread thread = reader(cell, result);
        cell.value = 42;
        thread.interrupt();
        thread.join();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread thread = reader(cell, result);
        thread.interrupt();
        Pair.repeat(() -> cell.value = 42);
        thread.join();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InterruptedStatic::good, InterruptedStatic::bad);
    }
}
