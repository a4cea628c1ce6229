// Promise: RejectedExecutionHandler is called by execute in the caller's thread; a queue of one's own then orders
// as BlockingQueue says.
// Way: the handler puts the task into another blocking queue, from which a thread takes it.
// Bad twin: the caller changes the cell after the handler has passed the task on.
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

class RejectedHandler {
    static class Cell {
        int value;
    }

    static int run(boolean late, Cell cell) throws Exception {
        LinkedBlockingQueue<Runnable> overflow = new LinkedBlockingQueue<>();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1),
                (task, owner) -> overflow.add(task));
        pool.shutdown();
        Cell result = new Cell();
        Thread taker = new Thread(() -> {
            try {
                overflow.take().run();
            } catch (InterruptedException stop) {
                throw new IllegalStateException(stop);
            }
        });
        taker.start();
        cell.value = 42;
        pool.execute(() -> {
            for (int round = 0; round < 5; round++) {
                result.value = cell.value;
                Pair.pause();
            }
        });
        if (late) {
            Pair.repeat(() -> cell.value = 43);
        }
        taker.join();
        return result.value;
    }

    static int good() throws Exception {
        return run(false, new Cell());
    }

    static int bad() throws Exception {
        return run(true, new Cell());
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, RejectedHandler::good, RejectedHandler::bad);
    }
}
