// Promise: ExecutorService.awaitTermination returns true when all tasks have completed; JLS 17.4.4: what a thread
// did comes before whatever detects its end.
// Way: shutdown and awaitTermination that returns true.
// Bad twin: awaitTermination returns false, because its limit is over.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

class AwaitTermination {
    static class Cell {
        int value;
    }

    static ExecutorService writing(Cell cell) {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.execute(() -> {
            for (int round = 0; round < 10; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        pool.shutdown();
        return pool;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = writing(cell);
        boolean ended = pool.awaitTermination(8, TimeUnit.SECONDS);
        return ended ? cell.value : -1;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = writing(cell);
        boolean ended = pool.awaitTermination(1, TimeUnit.MILLISECONDS);
        int seen = Pair.repeatRead(() -> ended ? -1 : cell.value);
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AwaitTermination::good, AwaitTermination::bad);
    }
}
