// Promise: ScheduledExecutorService: it is an ExecutorService; actions before schedule happen-before the task, and
// the task before get.
// Way: schedule with a short delay.
// Bad twin: the delay is over while the scheduler still writes.
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

class ScheduleOnce {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
        cell.value = 42;
        int seen = pool.schedule(() -> cell.value, 1, TimeUnit.MILLISECONDS).get();
        pool.shutdown();
        return seen;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
        ScheduledFuture<Integer> answer =
                pool.schedule(() -> Pair.repeatRead(() -> cell.value), 1, TimeUnit.MILLISECONDS);
        Pair.repeat(() -> cell.value = 42);
        int seen = answer.get();
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ScheduleOnce::good, ScheduleOnce::bad);
    }
}
