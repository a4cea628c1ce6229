package programs;

import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** Successive over-relaxation on a square grid, red points and black points in turns, a barrier after each. */
public final class Sor {
    public static void main(String[] arguments) throws InterruptedException {
        int size = Measurement.size(arguments, 1000);
        int threads = Measurement.threads(arguments);
        Grid grid = new Grid(size, new RandomStream(31));
        Measurement measurement = Measurement.begin();
        CyclicBarrier barrier = new CyclicBarrier(threads);
        Runnable[] workers = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(grid, i, threads, barrier);
        }
        Measurement.runAll(workers);
        measurement.end(grid.checksum());
    }

    private static final class Grid {
        private static final double OMEGA = 1.25;
        private final double[][] rows;
        private final int size;

        Grid(int size, RandomStream random) {
            this.size = size;
            rows = new double[size][size];
            for (double[] row : rows) {
                for (int i = 0; i < size; i++) {
                    row[i] = random.nextDouble();
                }
            }
        }

        void relax(int row, int colour) {
            double[] above = rows[row - 1];
            double[] here = rows[row];
            double[] below = rows[row + 1];
            for (int i = 1 + (row + colour) % 2; i < size - 1; i += 2) {
                double neighbours = above[i] + below[i] + here[i - 1] + here[i + 1];
                here[i] = OMEGA / 4 * neighbours + (1 - OMEGA) * here[i];
            }
        }

        long checksum() {
            long checksum = 0;
            for (double[] row : rows) {
                for (double value : row) {
                    checksum = Measurement.mix(checksum, value);
                }
            }
            return checksum;
        }
    }

    private static final class Worker implements Runnable {
        private static final int ITERATIONS = 1400;
        private final Grid grid;
        private final int firstRow;
        private final int endRow;
        private final CyclicBarrier barrier;
        private int rowsDone;

        Worker(Grid grid, int number, int threads, CyclicBarrier barrier) {
            this.grid = grid;
            this.barrier = barrier;
            int inner = grid.size - 2;
            firstRow = 1 + inner * number / threads;
            endRow = 1 + inner * (number + 1) / threads;
        }

        @Override
        public void run() {
            try {
                for (int half = 0; half < 2 * ITERATIONS; half++) {
                    for (int row = firstRow; row < endRow; row++) {
                        grid.relax(row, half % 2);
                        rowsDone++;
                    }
                    barrier.await();
                }
            } catch (InterruptedException | BrokenBarrierException exception) {
                throw new IllegalStateException(exception);
            }
            if (rowsDone != 2 * ITERATIONS * (endRow - firstRow)) {
                throw new IllegalStateException("rows were forgotten");
            }
        }
    }
}
