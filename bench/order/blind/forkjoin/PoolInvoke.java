// Promise: ForkJoinPool.invoke: what comes before happens-before the task, and the task before the return.
// Way: a recursive sum, called from a thread outside the pool.
// Bad twin: the caller gives the task to execute and does not wait.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

class PoolInvoke {
    static class Cell {
        int value;
    }

    static class Doubling extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1L;
        final transient Cell cell;

        Doubling(Cell cell) {
            this.cell = cell;
        }

        @Override
        protected Integer compute() {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
            return 1;
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ForkJoinPool pool = new ForkJoinPool(2);
        cell.value = 21;
        pool.invoke(new Doubling(cell));
        pool.shutdown();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ForkJoinPool pool = new ForkJoinPool(2);
        Doubling task = new Doubling(cell);
        pool.execute(task);
        int seen = Pair.repeatRead(() -> cell.value);
        task.join();
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PoolInvoke::good, PoolInvoke::bad);
    }
}
