// Promise: CompletionStage.thenCompose: the returned stage completes after the stage that the function returned.
// Way: the inner stage, in another thread, writes.
// Bad twin: the function starts the inner stage and returns a completed one instead.
import java.util.concurrent.CompletableFuture;

class ThenCompose {
    static class Cell {
        int value;
    }

    static CompletableFuture<Integer> writing(Cell cell) {
        return CompletableFuture.supplyAsync(() -> {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
            return 1;
        });
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CompletableFuture.completedFuture(1).thenCompose(done -> writing(cell)).join();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CompletableFuture.completedFuture(1).thenCompose(done -> {
            writing(cell);
            return CompletableFuture.completedFuture(2);
        }).join();
        return Pair.repeatRead(() -> cell.value);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ThenCompose::good, ThenCompose::bad);
    }
}
