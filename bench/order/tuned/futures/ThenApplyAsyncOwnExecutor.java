// Promise: CompletionStage and Executor: the source's completion comes before the dependent action, also in another
// executor.
// Way: thenApplyAsync with an executor of one's own.
// Bad twin: both actions depend on the same source and not on each other, and run in two threads of the executor.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class ThenApplyAsyncOwnExecutor {
    static class Cell {
        int value;
    }

    static int read(Cell cell) {
        int last = 0;
        for (int round = 0; round < 5; round++) {
            last = cell.value;
            Pair.pause();
        }
        return last;
    }

    static int write(Cell cell) {
        for (int round = 0; round < 5; round++) {
            cell.value = 42;
            Pair.pause();
        }
        return 42;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletableFuture<Integer> writing = CompletableFuture.supplyAsync(() -> write(cell), pool);
        int seen = writing.thenApplyAsync(done -> read(cell), pool).join();
        pool.shutdown();
        return seen;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletableFuture<Integer> source = CompletableFuture.completedFuture(1);
        CompletableFuture<Integer> writing = source.thenApplyAsync(done -> write(cell), pool);
        int seen = source.thenApplyAsync(done -> read(cell), pool).join();
        writing.join();
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ThenApplyAsyncOwnExecutor::good, ThenApplyAsyncOwnExecutor::bad);
    }
}
