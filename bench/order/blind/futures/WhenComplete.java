// Promise: CompletionStage.whenComplete: the action runs after the stage has completed, and before the returned
// stage completes.
// Way: the action writes; main joins the returned stage, known as a CompletionStage.
// Bad twin: main joins the source and not the returned stage; the action runs asynchronously.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

class WhenComplete {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CompletionStage<Integer> stage = CompletableFuture.supplyAsync(() -> 1).whenComplete((value, failure) -> {
            cell.value = 42;
        });
        stage.toCompletableFuture().join();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Integer> source = CompletableFuture.completedFuture(1);
        CompletableFuture<Integer> dependent = source.whenCompleteAsync((value, failure) -> {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        source.join();
        int seen = Pair.repeatRead(() -> cell.value);
        dependent.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, WhenComplete::good, WhenComplete::bad);
    }
}
