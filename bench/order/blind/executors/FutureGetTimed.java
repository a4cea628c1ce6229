// Promise: java.util.concurrent, memory consistency: the actions of a computation happen-before those after
// Future.get.
// Way: get with a limit, known as a Future.
// Bad twin: get ends by a TimeoutException, while the task goes on.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

class FutureGetTimed {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newCachedThreadPool();
        Future<?> done = pool.submit(() -> {
            cell.value = 42;
        });
        done.get(8, TimeUnit.SECONDS);
        pool.shutdown();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newCachedThreadPool();
        Future<?> done = pool.submit(() -> {
            for (int round = 0; round < 3; round++) {
                Pair.repeat(() -> cell.value = 42);
            }
            return 0;
        });
        int seen = 0;
        try {
            done.get(1, TimeUnit.MILLISECONDS);
        } catch (TimeoutException expected) {
            seen = Pair.repeatRead(() -> cell.value);
        }
        done.get();
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FutureGetTimed::good, FutureGetTimed::bad);
    }
}
