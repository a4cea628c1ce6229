package programs;

/** Solves a system of linear equations: Gauss with pivots, the columns of each step shared out, a barrier after each step. */
public final class LuFact {
    public static void main(String[] arguments) throws InterruptedException {
        int size = Measurement.size(arguments, 2200);
        int threads = Measurement.threads(arguments);
        Matrix matrix = new Matrix(size);
        matrix.fill(new RandomStream(23));
        Measurement measurement = Measurement.begin();
        Elimination elimination = new Elimination(matrix, threads);
        Runnable[] workers = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(elimination, i);
        }
        Measurement.runAll(workers);
        double[] solution = elimination.solve();
        long checksum = 0;
        for (double value : solution) {
            // The right side was made so that every unknown is 1.
            if (Math.abs(value - 1) > 1e-4) {
                throw new IllegalStateException("an unknown is " + value);
            }
            checksum = Measurement.mix(checksum, Math.round(value * 1000));
        }
        measurement.end(checksum + elimination.exchanges());
    }

    /** A square matrix by columns, with a right side. */
    private static final class Matrix {
        final int size;
        final double[][] columns;
        final double[] right;

        Matrix(int size) {
            this.size = size;
            columns = new double[size][size];
            right = new double[size];
        }

        void fill(RandomStream random) {
            for (int column = 0; column < size; column++) {
                for (int row = 0; row < size; row++) {
                    double value = random.nextDouble() - 0.5;
                    columns[column][row] = value;
                    right[row] += value;
                }
            }
        }

        /** The row of the largest value at or below the diagonal. */
        int pivot(int step) {
            double[] column = columns[step];
            int best = step;
            for (int row = step + 1; row < size; row++) {
                if (Math.abs(column[row]) > Math.abs(column[best])) {
                    best = row;
                }
            }
            return best;
        }
    }

    /** What all threads share: the matrix, the pivot of the step, and the barrier that makes both safe. */
    private static final class Elimination {
        private final Matrix matrix;
        private final Barrier barrier;
        private final int threads;
        private int pivotRow;
        private double pivotValue;
        private int exchanges;

        Elimination(Matrix matrix, int threads) {
            this.matrix = matrix;
            this.threads = threads;
            barrier = new Barrier(threads);
        }

        /** Done by one thread while the others wait. */
        void choosePivot(int step) {
            pivotRow = matrix.pivot(step);
            double[] column = matrix.columns[step];
            if (pivotRow != step) {
                exchanges++;
                swap(column, step, pivotRow);
                swap(matrix.right, step, pivotRow);
            }
            pivotValue = column[step];
            for (int row = step + 1; row < matrix.size; row++) {
                column[row] /= pivotValue;
                matrix.right[row] -= column[row] * matrix.right[step];
            }
        }

        /** Each thread has the columns that leave its number as rest. */
        void eliminate(int step, int thread) {
            double[] factors = matrix.columns[step];
            int size = matrix.size;
            for (int index = step + 1; index < size; index++) {
                if (index % threads != thread) {
                    continue;
                }
                double[] column = matrix.columns[index];
                if (pivotRow != step) {
                    swap(column, step, pivotRow);
                }
                double value = column[step];
                for (int row = step + 1; row < size; row++) {
                    column[row] -= factors[row] * value;
                }
            }
        }

        double[] solve() {
            int size = matrix.size;
            double[] solution = matrix.right.clone();
            for (int step = size - 1; step >= 0; step--) {
                double[] column = matrix.columns[step];
                solution[step] /= column[step];
                for (int row = 0; row < step; row++) {
                    solution[row] -= column[row] * solution[step];
                }
            }
            return solution;
        }

        int exchanges() {
            return exchanges;
        }

        private static void swap(double[] values, int one, int other) {
            double value = values[one];
            values[one] = values[other];
            values[other] = value;
        }
    }

    private static final class Worker implements Runnable {
        private final Elimination elimination;
        private final int number;

        Worker(Elimination elimination, int number) {
            this.elimination = elimination;
            this.number = number;
        }

        @Override
        public void run() {
            for (int step = 0; step < elimination.matrix.size; step++) {
                if (number == 0) {
                    elimination.choosePivot(step);
                }
                elimination.barrier.await();
                elimination.eliminate(step, number);
                elimination.barrier.await();
            }
        }
    }
}
