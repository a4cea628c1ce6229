package programs;

/** Multiplies a sparse matrix with a vector, again and again; every thread has a range of rows. */
public final class SparseMatMult {
    public static void main(String[] arguments) throws InterruptedException {
        int size = Measurement.size(arguments, 20_000);
        int threads = Measurement.threads(arguments);
        SparseMatrix matrix = new SparseMatrix(size, 10, new RandomStream(41));
        Vector one = new Vector(size);
        Vector other = new Vector(size);
        RandomStream random = new RandomStream(43);
        for (int i = 0; i < size; i++) {
            one.set(i, random.nextDouble());
        }
        Measurement measurement = Measurement.begin();
        Barrier barrier = new Barrier(threads);
        Runnable[] workers = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            int start = (int) ((long) size * i / threads);
            int end = (int) ((long) size * (i + 1) / threads);
            workers[i] = new Worker(matrix, one, other, start, end, barrier);
        }
        Measurement.runAll(workers);
        long checksum = 0;
        for (int i = 0; i < size; i++) {
            checksum = Measurement.mix(checksum, one.get(i));
        }
        measurement.end(checksum);
    }

    private static final class Vector {
        private final double[] values;

        Vector(int size) {
            values = new double[size];
        }

        double get(int index) {
            return values[index];
        }

        void set(int index, double value) {
            values[index] = value;
        }
    }

    /** The entries of a row that are not zero. */
    private static final class Row {
        private final int[] columns;
        private final double[] values;
        private int count;

        Row(int capacity) {
            columns = new int[capacity];
            values = new double[capacity];
        }

        void add(int column, double value) {
            columns[count] = column;
            values[count++] = value;
        }

        double times(Vector vector) {
            double sum = 0;
            for (int i = 0; i < count; i++) {
                sum += values[i] * vector.get(columns[i]);
            }
            return sum;
        }
    }

    private static final class SparseMatrix {
        private final Row[] rows;

        SparseMatrix(int size, int entriesPerRow, RandomStream random) {
            rows = new Row[size];
            for (int row = 0; row < size; row++) {
                rows[row] = new Row(entriesPerRow);
                for (int i = 0; i < entriesPerRow; i++) {
                    int column = random.nextInt(size);
                    rows[row].add(column, random.nextDouble() / entriesPerRow * 2);
                }
            }
        }

        double multiply(int row, Vector vector) {
            return rows[row].times(vector);
        }
    }

    private static final class Worker implements Runnable {
        private static final int ROUNDS = 1_500;
        private final SparseMatrix matrix;
        private final Barrier barrier;
        private final int start;
        private final int end;
        private Vector from;
        private Vector to;

        Worker(SparseMatrix matrix, Vector from, Vector to, int start, int end, Barrier barrier) {
            this.matrix = matrix;
            this.from = from;
            this.to = to;
            this.start = start;
            this.end = end;
            this.barrier = barrier;
        }

        @Override
        public void run() {
            for (int round = 0; round < 2 * ROUNDS; round++) {
                for (int row = start; row < end; row++) {
                    to.set(row, matrix.multiply(row, from));
                }
                Vector swapped = from;
                from = to;
                to = swapped;
                barrier.await();
            }
        }
    }
}
