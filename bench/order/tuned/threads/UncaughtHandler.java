// Promise: Thread.UncaughtExceptionHandler is called in the terminating thread, before it ends; JLS 17.4.5: that
// happens-before the return of join.
// Way: the handler of one thread writes, main joins.
// Bad twin: main does not join before it reads.
class UncaughtHandler {
    static class Cell {
        int value;
    }

    static Thread failing(Cell cell) {
        Thread thread = new Thread(() -> {
            throw new IllegalStateException("expected");
        });
        thread.setUncaughtExceptionHandler((dying, failure) -> {
            for (int round = 0; round < 8; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        thread.start();
        return thread;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Thread thread = failing(cell);
        thread.join();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread thread = failing(cell);
        int seen = Pair.repeatRead(() -> cell.value);
        thread.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, UncaughtHandler::good, UncaughtHandler::bad);
    }
}
