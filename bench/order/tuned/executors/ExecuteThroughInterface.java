// Promise: Executor: actions before a Runnable is given to an Executor happen-before its execution.
// Way: the pool is known as an Executor; a latch brings the answer back.
// Bad twin: the write follows execute.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class ExecuteThroughInterface {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Executor executor = pool;
        CountDownLatch done = new CountDownLatch(1);
        Cell result = new Cell();
        cell.value = 42;
        executor.execute(() -> {
            result.value = cell.value;
            done.countDown();
        });
        done.await();
        pool.shutdown();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Executor executor = pool;
        CountDownLatch done = new CountDownLatch(1);
        Cell result = new Cell();
        executor.execute(() -> {
            for (int round = 0; round < 5; round++) {
                result.value = cell.value;
                Pair.pause();
            }
            done.countDown();
        });
        Pair.repeat(() -> cell.value = 42);
        done.await();
        pool.shutdown();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ExecuteThroughInterface::good, ExecuteThroughInterface::bad);
    }
}
