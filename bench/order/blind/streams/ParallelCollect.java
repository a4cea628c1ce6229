// Promise: Stream.collect: containers are confined to a thread until they are combined, without a lock, also in
// parallel.
// Way: a Collector of one's own whose container is a cell.
// Bad twin: the supplier of the container gives all threads the same cell.
import java.util.function.Supplier;
import java.util.stream.IntStream;

class ParallelCollect {
    static class Cell {
        int value;
    }

    static int run(Supplier<Cell> supplier) {
        return IntStream.range(0, 14).parallel().collect(supplier, (cell, number) -> {
            cell.value += 3;
            Pair.pause();
        }, (left, right) -> {
            if (left != right) {
                left.value += right.value;
            }
        }).value;
    }

    static int good() throws Exception {
        return run(Cell::new);
    }

    static int bad() throws Exception {
        Cell shared = new Cell();
        return run(() -> shared);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ParallelCollect::good, ParallelCollect::bad);
    }
}
