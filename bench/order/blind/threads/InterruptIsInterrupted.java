// Promise: JLS 17.4.4: interrupting a thread happens-before isInterrupted returning true.
// Way: the interrupted thread asks for its own status again and again.
// Bad twin: the reader reads without having found itself interrupted.
class InterruptIsInterrupted {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread reader = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
            result.value = cell.value;
        });
        reader.start();
        cell.value = 42;
        reader.interrupt();
        reader.join();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread reader = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                result.value = cell.value;
                Pair.pause();
            }
        });
        reader.start();
        Pair.repeat(() -> cell.value = 42);
        reader.interrupt();
        reader.join();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InterruptIsInterrupted::good, InterruptIsInterrupted::bad);
    }
}
