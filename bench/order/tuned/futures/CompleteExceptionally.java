// Promise: java.util.concurrent, memory consistency: a Future's end, by an exception too, happens-before get
// reports it.
// Way: completeExceptionally, and get that throws ExecutionException.
// Bad twin: getNow is asked before the end, and the cell is read all the same.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

class CompleteExceptionally {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Integer> future = new CompletableFuture<>();
        return Pair.together(() -> {
            cell.value = 42;
            future.completeExceptionally(new IllegalStateException("expected"));
        }, () -> {
            try {
                return future.get();
            } catch (ExecutionException expected) {
                return cell.value;
            }
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Integer> future = new CompletableFuture<>();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            future.completeExceptionally(new IllegalStateException("expected"));
        }, () -> {
            int seen = Pair.repeatRead(() -> future.isDone() ? -1 : cell.value);
            return seen;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CompleteExceptionally::good, CompleteExceptionally::bad);
    }
}
