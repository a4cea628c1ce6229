// Promise: ExecutorService: actions before the submission happen-before the task; AbstractExecutorService builds on
// execute.
// Way: an ExecutorService of one's own by subclassing AbstractExecutorService, each task in a thread of its own.
// Bad twin: the result is not asked for before the cell is read.
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

class ExecutorWrapper {
    static class Cell {
        int value;
    }

    static class ThreadPerTask extends AbstractExecutorService {
        @Override
        public void execute(Runnable task) {
            new Thread(task).start();
        }

        @Override
        public void shutdown() {
            Thread.onSpinWait();
        }

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long time, TimeUnit unit) {
            return false;
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService service = new ThreadPerTask();
        service.submit(() -> cell.value = 42).get();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService service = new ThreadPerTask();
        Future<?> done = service.submit(() -> {
            Pair.repeat(() -> cell.value = 42);
            return 1;
        });
        int seen = Pair.repeatRead(() -> cell.value);
        done.get();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ExecutorWrapper::good, ExecutorWrapper::bad);
    }
}
