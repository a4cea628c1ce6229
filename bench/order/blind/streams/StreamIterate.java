// Promise: Stream.iterate: applying the function for one element happens-before applying it for the next, whatever
// the threads.
// Way: a parallel stream over a finite iterate; the function adds to one cell.
// Bad twin: two streams with that function are run by two threads.
import java.util.stream.Stream;

class StreamIterate {
    static class Cell {
        int value;
    }

    static int count(Cell cell, int elements) {
        return Stream.iterate(1, number -> number <= elements, number -> {
            cell.value += 1;
            return number + 1;
        }).parallel().mapToInt(number -> 1).sum();
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        return count(cell, 42) == cell.value ? cell.value : -1;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        return Pair.together(() -> Pair.repeat(() -> count(cell, 3)), () -> Pair.repeatRead(() -> count(cell, 3)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StreamIterate::good, StreamIterate::bad);
    }
}
