// Promise: a terminal operation returns after its elements have been processed; reduce combines values, not shared
// state.
// Way: parallel map and reduce over cells that were filled before.
// Bad twin: the mapping function changes a cell that all elements share.
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

class ParallelReduce {
    static class Cell {
        int value;
    }

    static int run(ToIntFunction<Integer> mapping) {
        return IntStream.range(0, 14).parallel().boxed().mapToInt(mapping).sum();
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        cell.value = 3;
        return run(number -> cell.value);
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        return run(number -> {
            Pair.pause();
            return cell.value++;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ParallelReduce::good, ParallelReduce::bad);
    }
}
