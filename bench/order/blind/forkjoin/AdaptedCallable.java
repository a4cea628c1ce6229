// Promise: ForkJoinTask.adapt: the task runs the given Callable; get comes after it.
// Way: adapt of a method reference, submitted to the common pool.
// Bad twin: the adapted method is called by a second task of the pool at the same time.
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

class AdaptedCallable {
    static class Cell {
        int value;
    }

    static class Job {
        final Cell cell = new Cell();

        int add() {
            for (int round = 0; round < 7; round++) {
                cell.value += 3;
                Pair.pause();
            }
            return cell.value;
        }
    }

    static int good() throws Exception {
        Job job = new Job();
        Callable<Integer> add = job::add;
        ForkJoinPool.commonPool().submit(ForkJoinTask.adapt(add)).get();
        ForkJoinPool.commonPool().submit(ForkJoinTask.adapt(add)).get();
        return job.cell.value;
    }

    static int bad() throws Exception {
        Job job = new Job();
        Callable<Integer> add = job::add;
        ForkJoinPool pool = new ForkJoinPool(2);
        ForkJoinTask<Integer> first = pool.submit(ForkJoinTask.adapt(add));
        ForkJoinTask<Integer> second = pool.submit(ForkJoinTask.adapt(add));
        first.get();
        second.get();
        pool.shutdown();
        return job.cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AdaptedCallable::good, AdaptedCallable::bad);
    }
}
