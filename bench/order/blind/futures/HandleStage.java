// Promise: CompletionStage.handle: the function runs after the stage has completed, normally or not.
// Way: the source fails after it has written; the handler reads.
// Bad twin: the handler is attached to another stage.
import java.util.concurrent.CompletableFuture;

class HandleStage {
    static class Cell {
        int value;
    }

    static CompletableFuture<Integer> failing(Cell cell) {
        return CompletableFuture.supplyAsync(() -> {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
            throw new IllegalStateException("expected");
        });
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        return failing(cell).handle((value, failure) -> failure == null ? -1 : cell.value).join();
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Integer> source = failing(cell);
        CompletableFuture<Integer> other = new CompletableFuture<>();
        other.cancel(false);
        int seen = Pair.repeatRead(() -> other.handle((value, failure) -> cell.value).join());
        source.handle((value, failure) -> 0).join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleStage::good, HandleStage::bad);
    }
}
