// Promise: CompletableFuture.anyOf completes when one of the given futures has completed, with its result.
// Way: the result is the cell that the winner filled.
// Bad twin: the cell of the other future is read.
import java.util.concurrent.CompletableFuture;

class AnyOf {
    static class Cell {
        int value;
    }

    static CompletableFuture<Cell> making(Cell cell, int rounds) {
        return CompletableFuture.supplyAsync(() -> {
            for (int round = 0; round < rounds; round++) {
                cell.value = 42;
                Pair.pause();
            }
            return cell;
        }, task -> new Thread(task).start());
    }

    static int good() throws Exception {
        Object winner = CompletableFuture.anyOf(making(new Cell(), 1), making(new Cell(), 2)).join();
        return ((Cell) winner).value;
    }

    static int bad() throws Exception {
        Cell slow = new Cell();
        CompletableFuture.anyOf(making(new Cell(), 1), making(slow, 12)).join();
        return Pair.repeatRead(() -> slow.value);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AnyOf::good, AnyOf::bad);
    }
}
