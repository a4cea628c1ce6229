// Promise: a terminal operation of a stream returns after its elements have been processed; the tasks of
// java.util.concurrent behind it order them before.
// Way: a parallel stream writes a cell for each element; the caller adds them up afterwards.
// Bad twin: all elements write one cell.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

class ParallelMapJoin {
    static class Cell {
        int value;
    }

    static int run(List<Cell> cells) {
        cells.parallelStream().forEach(each -> {
            each.value += 3;
            Pair.pause();
        });
        int sum = 0;
        for (Cell each : cells) {
            sum += each.value;
        }
        return sum;
    }

    static int good() throws Exception {
        List<Cell> cells = new ArrayList<>();
        for (int round = 0; round < 14; round++) {
            cells.add(new Cell());
        }
        return run(cells);
    }

    static int bad() throws Exception {
        return run(Collections.nCopies(14, new Cell()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ParallelMapJoin::good, ParallelMapJoin::bad);
    }
}
