// Promise: Arrays.parallelSetAll returns after the function has been applied for every index, by tasks of
// java.util.concurrent.
// Way: the function fills a cell for each index; the caller reads them afterwards.
// Bad twin: the function writes one cell for all indices.
import java.util.Arrays;

class ParallelArrays {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell[] cells = new Cell[14];
        Arrays.parallelSetAll(cells, index -> {
            Cell made = new Cell();
            made.value = 3;
            return made;
        });
        int sum = 0;
        for (Cell each : cells) {
            sum += each.value;
        }
        return sum;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cell[] cells = new Cell[14];
        Arrays.parallelSetAll(cells, index -> {
            cell.value += 3;
            Pair.pause();
            return cell;
        });
        return cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ParallelArrays::good, ParallelArrays::bad);
    }
}
