// Promise: CompletableFuture.orTimeout: the future ends by a TimeoutException if it is not completed before; get
// reports either.
// Way: it is completed in time; join comes after the completion.
// Bad twin: the time is over first; the writer still writes.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

class OrTimeout {
    static class Cell {
        int value;
    }

    static CompletableFuture<Integer> writing(Cell cell, int rounds) {
        return CompletableFuture.supplyAsync(() -> {
            for (int round = 0; round < rounds; round++) {
                cell.value = 42;
                Pair.pause();
            }
            return 1;
        }, task -> new Thread(task).start());
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        writing(cell, 3).orTimeout(8, TimeUnit.SECONDS).join();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        int seen = 0;
        try {
            writing(cell, 15).orTimeout(1, TimeUnit.MILLISECONDS).join();
        } catch (CompletionException expected) {
            seen = Pair.repeatRead(() -> cell.value);
        }
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, OrTimeout::good, OrTimeout::bad);
    }
}
