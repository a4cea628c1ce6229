// Promise: ForkJoinTask: a task's actions happen-before those after join, at every level of a recursion.
// Way: tasks write the results of their ranges to plain fields; the parents read them after join.
// Bad twin: each leaf adds to one shared cell.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

class RecursiveSum {
    static class Cell {
        int value;
    }

    static class Sum extends RecursiveAction {
        private static final long serialVersionUID = 1L;
        final int from;
        final int to;
        final transient Cell shared;
        int result;

        Sum(int from, int to, Cell shared) {
            this.from = from;
            this.to = to;
            this.shared = shared;
        }

        @Override
        protected void compute() {
            if (to - from == 1) {
                result = 1;
                if (shared != null) {
                    shared.value++;
                }
                Pair.pause();
                return;
            }
            int middle = (from + to) / 2;
            Sum left = new Sum(from, middle, shared);
            Sum right = new Sum(middle, to, shared);
            left.fork();
            right.compute();
            left.join();
            result = left.result + right.result;
        }
    }

    static int good() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(2);
        Sum sum = new Sum(0, 42, null);
        pool.invoke(sum);
        pool.shutdown();
        return sum.result;
    }

    static int bad() throws Exception {
        Cell shared = new Cell();
        ForkJoinPool pool = new ForkJoinPool(2);
        pool.invoke(new Sum(0, 42, shared));
        pool.shutdown();
        return shared.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, RecursiveSum::good, RecursiveSum::bad);
    }
}
