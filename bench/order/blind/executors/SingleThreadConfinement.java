// Promise: Executors.newSingleThreadExecutor: tasks run one after the other, at most one active at any time.
// Way: tasks of one single-threaded executor add to a cell without any lock.
// Bad twin: the executor has two threads.
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class SingleThreadConfinement {
    static class Cell {
        int value;
    }

    static int run(ExecutorService pool, Cell cell) throws Exception {
        Callable<Integer> add = () -> {
            for (int round = 0; round < 7; round++) {
                cell.value += 3;
                Pair.pause();
            }
            return cell.value;
        };
        Future<Integer> first = pool.submit(add);
        Future<Integer> second = pool.submit(add);
        first.get();
        int seen = second.get();
        pool.shutdown();
        return seen;
    }

    static int good() throws Exception {
        return run(Executors.newSingleThreadExecutor(), new Cell());
    }

    static int bad() throws Exception {
        return run(Executors.newFixedThreadPool(2), new Cell());
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SingleThreadConfinement::good, SingleThreadConfinement::bad);
    }
}
