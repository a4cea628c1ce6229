// Promise: CountedCompleter: onCompletion runs when all pending tasks have completed, after what they did before
// tryComplete.
// Way: two children write a cell each, onCompletion of the parent adds them up.
// Bad twin: the pending count is too small by one: onCompletion runs after the first child.
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ForkJoinPool;

class CountedCompletion {
    static class Cell {
        int value;
    }

    static class Parent extends CountedCompleter<Integer> {
        private static final long serialVersionUID = 1L;
        final transient Cell first = new Cell();
        final transient Cell second = new Cell();
        final int pending;
        int sum;

        Parent(int pending) {
            super(null, pending);
            this.pending = pending;
        }

        @Override
        public void compute() {
            new Child(this, second, 2, pending == 1 ? 2 : 12).fork();
            new Child(this, first, 40, 1).compute();
        }

        @Override
        public void onCompletion(CountedCompleter<?> caller) {
            for (int round = 0; round < 5; round++) {
                sum = first.value + second.value;
                Pair.pause();
            }
        }

        @Override
        public Integer getRawResult() {
            return sum;
        }
    }

    static class Child extends CountedCompleter<Integer> {
        private static final long serialVersionUID = 1L;
        final transient Cell cell;
        final int value;
        final int rounds;

        Child(Parent parent, Cell cell, int value, int rounds) {
            super(parent);
            this.cell = cell;
            this.value = value;
            this.rounds = rounds;
        }

        @Override
        public void compute() {
            for (int round = 0; round < rounds; round++) {
                cell.value = value;
                Pair.pause();
            }
            tryComplete();
        }
    }

    static int run(int pending) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(2);
        int seen = pool.invoke(new Parent(pending));
        pool.shutdown();
        return seen;
    }

    static int good() throws Exception {
        return run(1);
    }

    static int bad() throws Exception {
        return run(0);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CountedCompletion::good, CountedCompletion::bad);
    }
}
