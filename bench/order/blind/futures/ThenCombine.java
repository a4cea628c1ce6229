// Promise: CompletionStage.thenCombine: the function runs after both stages have completed.
// Way: two stages in two threads write a cell each.
// Bad twin: applyToEither: the function runs after one of them.
import java.util.concurrent.CompletableFuture;

class ThenCombine {
    static class Cell {
        int value;
    }

    static CompletableFuture<Integer> writing(Cell cell, int value, int rounds) {
        CompletableFuture<Integer> future = new CompletableFuture<>();
        new Thread(() -> {
            for (int round = 0; round < rounds; round++) {
                cell.value = value;
                Pair.pause();
            }
            future.complete(value);
        }).start();
        return future;
    }

    static int good() throws Exception {
        Cell first = new Cell();
        Cell second = new Cell();
        CompletableFuture<Integer> other = writing(second, 2, 6);
        return writing(first, 40, 3).thenCombine(other, (one, two) -> first.value + second.value).join();
    }

    static int bad() throws Exception {
        Cell first = new Cell();
        Cell second = new Cell();
        writing(first, 40, 1).applyToEither(writing(second, 2, 12), done -> done).join();
        return Pair.repeatRead(() -> first.value + second.value);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ThenCombine::good, ThenCombine::bad);
    }
}
