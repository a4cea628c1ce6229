// Promise: ThreadPoolExecutor.beforeExecute and afterExecute are called by the thread that runs the task;
// terminated after all tasks.
// Way: a subclass counts in its hooks in a pool of one thread, and main reads after awaitTermination.
// Bad twin: the pool has two threads, and the hooks take no lock.
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

class PoolHooks {
    static class Cell {
        int value;
    }

    static class Counting extends ThreadPoolExecutor {
        final Cell cell = new Cell();

        Counting(int size) {
            super(size, size, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        protected void beforeExecute(Thread thread, Runnable task) {
            cell.value += 3;
        }

        @Override
        protected void afterExecute(Runnable task, Throwable failure) {
            cell.value += 3;
        }
    }

    static int run(int size) throws Exception {
        Counting pool = new Counting(size);
        for (int round = 0; round < 7; round++) {
            pool.execute(Pair::pause);
        }
        pool.shutdown();
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return pool.cell.value;
    }

    static int good() throws Exception {
        return run(1);
    }

    static int bad() throws Exception {
        return run(2);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PoolHooks::good, PoolHooks::bad);
    }
}
