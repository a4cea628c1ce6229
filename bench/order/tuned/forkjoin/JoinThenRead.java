// Promise: ForkJoinTask is a Future: the task's actions happen-before those after join.
// Way: a RecursiveAction writes, the forking task joins and reads.
// Bad twin: the forking task reads before it joins.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

class JoinThenRead {
    static class Cell {
        int value;
    }

    static class Writing extends RecursiveAction {
        private static final long serialVersionUID = 1L;
        final transient Cell cell = new Cell();

        @Override
        protected void compute() {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
        }
    }

    static int run(boolean early) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(2);
        int seen = pool.submit(() -> {
            Writing writing = new Writing();
            writing.fork();
            int first = early ? Pair.repeatRead(() -> writing.cell.value) : 0;
            writing.join();
            return early ? first : writing.cell.value;
        }).get();
        pool.shutdown();
        return seen;
    }

    static int good() throws Exception {
        return run(false);
    }

    static int bad() throws Exception {
        return run(true);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, JoinThenRead::good, JoinThenRead::bad);
    }
}
