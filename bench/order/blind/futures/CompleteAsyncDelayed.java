// Promise: CompletableFuture.completeAsync and delayedExecutor: the supplier runs before the future is complete.
// Way: completeAsync with a delayed executor.
// Bad twin: the future is completed by main, while the supplier runs.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

class CompleteAsyncDelayed {
    static class Cell {
        int value;
    }

    static int write(Cell cell) {
        for (int round = 0; round < 8; round++) {
            cell.value = 42;
            Pair.pause();
        }
        return 42;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Integer> future = new CompletableFuture<>();
        future.completeAsync(() -> write(cell), CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS));
        future.join();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Integer> future = new CompletableFuture<>();
        future.completeAsync(() -> write(cell));
        future.complete(1);
        future.join();
        return Pair.repeatRead(() -> cell.value);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CompleteAsyncDelayed::good, CompleteAsyncDelayed::bad);
    }
}
