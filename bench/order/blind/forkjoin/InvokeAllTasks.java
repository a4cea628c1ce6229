// Promise: ForkJoinTask.invokeAll returns when all given tasks are done.
// Way: two tasks write a cell each; the caller adds them up.
// Bad twin: both tasks write the same cell.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;

class InvokeAllTasks {
    static class Cell {
        int value;
    }

    static class Adding extends RecursiveAction {
        private static final long serialVersionUID = 1L;
        final transient Cell cell;

        Adding(Cell cell) {
            this.cell = cell;
        }

        @Override
        protected void compute() {
            for (int round = 0; round < 7; round++) {
                cell.value += 3;
                Pair.pause();
            }
        }
    }

    static int run(Cell first, Cell second) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(2);
        int seen = pool.submit(() -> {
            ForkJoinTask.invokeAll(new Adding(first), new Adding(second));
            return first == second ? first.value : first.value + second.value;
        }).get();
        pool.shutdown();
        return seen;
    }

    static int good() throws Exception {
        return run(new Cell(), new Cell());
    }

    static int bad() throws Exception {
        Cell shared = new Cell();
        return run(shared, shared);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InvokeAllTasks::good, InvokeAllTasks::bad);
    }
}
