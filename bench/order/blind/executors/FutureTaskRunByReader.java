// Promise: FutureTask: run computes once; other threads that get come after it. As in a cache of futures.
// Way: both threads run the same FutureTask and get its result; only one computes.
// Bad twin: each thread calls the computation itself instead of the task.
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

class FutureTaskRunByReader {
    static class Cell {
        int value;
    }

    static Callable<Integer> computation(Cell cell) {
        return () -> {
            if (cell.value == 0) {
                cell.value = 42;
            }
            return cell.value;
        };
    }

    static int compute(FutureTask<Integer> task, Cell cell) throws Exception {
        task.run();
        task.get();
        return cell.value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        FutureTask<Integer> task = new FutureTask<>(computation(cell));
        return Pair.together(() -> compute(task, cell), () -> compute(task, cell));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Callable<Integer> direct = computation(cell);
        return Pair.together(() -> Pair.repeat(() -> {
            direct.call();
            cell.value = 42;
        }), () -> Pair.repeatRead(direct::call));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FutureTaskRunByReader::good, FutureTaskRunByReader::bad);
    }
}
