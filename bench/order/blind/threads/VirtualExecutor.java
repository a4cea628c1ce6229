// since 21
// Promise: java.util.concurrent, memory consistency: a task's actions happen-before Future.get returns its result.
// Way: an executor that runs each task in a virtual thread.
// Bad twin: get is called after the reads.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

class VirtualExecutor {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService executor = VirtualThreads.executor();
        Future<?> done = executor.submit(() -> {
            cell.value = 42;
        });
        done.get();
        executor.shutdown();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService executor = VirtualThreads.executor();
        Future<?> done = executor.submit(() -> {
            Pair.repeat(() -> cell.value = 42);
            return 0;
        });
        int seen = Pair.repeatRead(() -> cell.value);
        done.get();
        executor.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VirtualExecutor::good, VirtualExecutor::bad);
    }
}
