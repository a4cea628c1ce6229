// Promise: CompletionStage: a dependent stage runs after its source has completed; Future.get comes after both.
// Way: supplyAsync, thenApply, join.
// Bad twin: the dependent stage depends on another future.
import java.util.concurrent.CompletableFuture;

class SupplyThenApply {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        return CompletableFuture.supplyAsync(() -> cell.value = 42).thenApply(done -> cell.value).join();
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        int seen = CompletableFuture.completedFuture(1).thenApply(done -> {
            int last = 0;
            for (int round = 0; round < 5; round++) {
                last = cell.value;
                Pair.pause();
            }
            return last;
        }).join();
        writing.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SupplyThenApply::good, SupplyThenApply::bad);
    }
}
