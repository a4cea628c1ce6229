// Promise: ForkJoinPool.awaitQuiescence returns true when all tasks have ended; awaitTermination after shutdown
// likewise.
// Way: a task is executed, main awaits quiescence and termination.
// Bad twin: main asks isQuiescent once, which says false, and reads.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

class AwaitQuiescence {
    static class Cell {
        int value;
    }

    static ForkJoinPool writing(Cell cell) {
        ForkJoinPool pool = new ForkJoinPool(2);
        pool.execute(() -> {
            for (int round = 0; round < 8; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        return pool;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ForkJoinPool pool = writing(cell);
        boolean quiet = pool.awaitQuiescence(8, TimeUnit.SECONDS);
        pool.shutdown();
        boolean ended = pool.awaitTermination(8, TimeUnit.SECONDS);
        return quiet && ended ? cell.value : -1;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ForkJoinPool pool = writing(cell);
        boolean quiet = pool.isQuiescent();
        int seen = Pair.repeatRead(() -> quiet ? -1 : cell.value);
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AwaitQuiescence::good, AwaitQuiescence::bad);
    }
}
