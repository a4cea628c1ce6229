// Promise: Cleaner.register: actions before it happen-before the cleaning action in the cleaner's thread.
// Way: the cleaning action, run after a collection, reads a cell; a latch brings the answer back.
// Bad twin: the cell is written by another thread while the cleaning action runs.
import java.lang.ref.Cleaner;
import java.util.concurrent.CompletableFuture;

class CleanerRegister {
    static class Cell {
        int value;
    }

    static CompletableFuture<Integer> register(Cleaner cleaner, Cell cell) {
        CompletableFuture<Integer> seen = new CompletableFuture<>();
        cleaner.register(new Object(), () -> {
            int last = 0;
            for (int round = 0; round < 5; round++) {
                last = cell.value;
                Pair.pause();
            }
            seen.complete(last);
        });
        return seen;
    }

    static int await(CompletableFuture<Integer> seen) throws Exception {
        Pair.until(() -> {
            System.gc();
            Pair.pause();
            return seen.isDone();
        });
        return seen.join();
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Cleaner cleaner = Cleaner.create();
        cell.value = 42;
        return await(register(cleaner, cell));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cleaner cleaner = Cleaner.create();
        CompletableFuture<Integer> seen = register(cleaner, cell);
        Thread writer = new Thread(() -> {
            for (int round = 0; round < 200 && !seen.isDone(); round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        writer.start();
        int last = await(seen);
        writer.join();
        return last;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CleanerRegister::good, CleanerRegister::bad);
    }
}
