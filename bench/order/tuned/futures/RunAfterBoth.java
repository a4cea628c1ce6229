// Promise: CompletionStage.runAfterBoth: the action runs after both stages have completed.
// Way: the action adds up what both wrote.
// Bad twin: runAfterEither.
import java.util.concurrent.CompletableFuture;

class RunAfterBoth {
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

    static void add(Cell sum, Cell first, Cell second) {
        for (int round = 0; round < 5; round++) {
            sum.value = first.value + second.value;
            Pair.pause();
        }
    }

    static int good() throws Exception {
        Cell first = new Cell();
        Cell second = new Cell();
        Cell sum = new Cell();
        writing(first, 40, 2).runAfterBoth(writing(second, 2, 3), () -> add(sum, first, second)).join();
        return sum.value;
    }

    static int bad() throws Exception {
        Cell first = new Cell();
        Cell second = new Cell();
        Cell sum = new Cell();
        writing(first, 40, 1).runAfterEither(writing(second, 2, 12), () -> add(sum, first, second)).join();
        return sum.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, RunAfterBoth::good, RunAfterBoth::bad);
    }
}
