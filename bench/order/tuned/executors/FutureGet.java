// Promise: java.util.concurrent, memory consistency: the actions of a computation happen-before those after
// Future.get.
// Way: submit of a Runnable, get without a limit.
// Bad twin: the cell is read before get.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class FutureGet {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Future<?> done = pool.submit(() -> {
            cell.value = 42;
        });
        done.get();
        pool.shutdown();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Future<?> done = pool.submit(() -> {
            Pair.repeat(() -> cell.value = 42);
            return 0;
        });
        int seen = Pair.repeatRead(() -> cell.value);
        done.get();
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FutureGet::good, FutureGet::bad);
    }
}
