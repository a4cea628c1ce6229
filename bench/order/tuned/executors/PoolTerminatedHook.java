// Promise: ThreadPoolExecutor.terminated is called when all tasks have ended; awaitTermination returns after it.
// Way: a subclass writes in terminated.
// Bad twin: main reads before the pool has terminated, while tasks still write.
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

class PoolTerminatedHook {
    static class Cell {
        int value;
    }

    static class Closing extends ThreadPoolExecutor {
        final Cell cell = new Cell();

        Closing() {
            super(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        protected void terminated() {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
        }
    }

    static int good() throws Exception {
        Closing pool = new Closing();
        pool.execute(Thread::yield);
        pool.shutdown();
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return pool.cell.value;
    }

    static int bad() throws Exception {
        Closing pool = new Closing();
        pool.execute(Thread::yield);
        pool.shutdown();
        int seen = Pair.repeatRead(() -> pool.cell.value);
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PoolTerminatedHook::good, PoolTerminatedHook::bad);
    }
}
