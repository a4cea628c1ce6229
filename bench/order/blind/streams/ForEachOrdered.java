// Promise: Stream.forEachOrdered: the action for one element happens-before the action for the next, whatever the
// threads.
// Way: a parallel stream, the action adds to one cell.
// Bad twin: forEach instead, which promises no order.
import java.util.stream.IntStream;

class ForEachOrdered {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        IntStream.range(0, 14).parallel().boxed().forEachOrdered(number -> {
            cell.value += 3;
            Pair.pause();
        });
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        IntStream.range(0, 14).parallel().boxed().forEach(number -> {
            cell.value += 3;
            Pair.pause();
        });
        return cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ForEachOrdered::good, ForEachOrdered::bad);
    }
}
