// Promise: ThreadPoolExecutor.CallerRunsPolicy: a rejected task runs in the thread that called execute, in its
// program order.
// Way: the pool is full, so that the submitter runs the task and reads its effect at once.
// Bad twin: the pool is not full: the task runs in another thread.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

class CallerRuns {
    static class Cell {
        int value;
    }

    static int run(int size, Cell cell) throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, size, 1, TimeUnit.SECONDS, new SynchronousQueue<>(),
                new ThreadPoolExecutor.CallerRunsPolicy());
        CountDownLatch release = new CountDownLatch(1);
        pool.execute(() -> {
            try {
                release.await();
            } catch (InterruptedException stop) {
                throw new IllegalStateException(stop);
            }
        });
        pool.execute(() -> {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        int seen = Pair.repeatRead(() -> cell.value);
        release.countDown();
        pool.shutdown();
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return seen;
    }

    static int good() throws Exception {
        return run(1, new Cell());
    }

    static int bad() throws Exception {
        return run(2, new Cell());
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CallerRuns::good, CallerRuns::bad);
    }
}
