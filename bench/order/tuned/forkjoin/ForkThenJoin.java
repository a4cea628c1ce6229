// Promise: ForkJoinTask is a Future: what comes before fork happens-before the task, and the task happens-before
// the return of join.
// Way: a RecursiveTask forks one half and computes the other.
// Bad twin: the forking task goes on writing what the forked one reads.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveTask;

class ForkThenJoin {
    static class Cell {
        int value;
    }

    static class Reading extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1L;
        final transient Cell cell;

        Reading(Cell cell) {
            this.cell = cell;
        }

        @Override
        protected Integer compute() {
            int last = 0;
            for (int round = 0; round < 5; round++) {
                last = cell.value;
                Pair.pause();
            }
            return last;
        }
    }

    static int run(boolean late) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(2);
        int seen = pool.submit(() -> {
            Cell cell = new Cell();
            cell.value = 42;
            ForkJoinTask<Integer> forked = new Reading(cell).fork();
            if (late) {
                Pair.repeat(() -> cell.value = 43);
            }
            return forked.join();
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
        Pair.main(arguments, ForkThenJoin::good, ForkThenJoin::bad);
    }
}
