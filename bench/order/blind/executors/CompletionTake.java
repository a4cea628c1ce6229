// Promise: CompletionService: a task's actions happen-before those after the take that returns it.
// Way: ExecutorCompletionService, through the interface.
// Bad twin: poll returns null, as no task has ended, and the cell is read all the same.
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

class CompletionTake {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletionService<Integer> service = new ExecutorCompletionService<>(pool);
        service.submit(() -> cell.value = 42);
        service.take();
        pool.shutdown();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletionService<Integer> service = new ExecutorCompletionService<>(pool);
        service.submit(() -> {
            Pair.repeat(() -> cell.value = 42);
            return 1;
        });
        int seen = Pair.repeatRead(() -> service.poll() == null ? cell.value : -1);
        pool.shutdown();
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CompletionTake::good, CompletionTake::bad);
    }
}
