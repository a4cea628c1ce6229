// Promise: CompletableFuture.allOf completes when all of the given futures have completed.
// Way: two futures; join of allOf.
// Bad twin: one of the writers is not among the given futures.
import java.util.concurrent.CompletableFuture;

class AllOf {
    static class Cell {
        int value;
    }

    static CompletableFuture<Void> writing(Cell cell, int value, int rounds) {
        return CompletableFuture.runAsync(() -> {
            for (int round = 0; round < rounds; round++) {
                cell.value = value;
                Pair.pause();
            }
        }, task -> new Thread(task).start());
    }

    static int good() throws Exception {
        Cell first = new Cell();
        Cell second = new Cell();
        CompletableFuture.allOf(writing(first, 40, 2), writing(second, 2, 5)).join();
        return first.value + second.value;
    }

    static int bad() throws Exception {
        Cell first = new Cell();
        Cell second = new Cell();
        CompletableFuture<Void> left = writing(second, 2, 12);
        CompletableFuture.allOf(writing(first, 40, 1)).join();
        int seen = Pair.repeatRead(() -> first.value + second.value);
        left.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AllOf::good, AllOf::bad);
    }
}
