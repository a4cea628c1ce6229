// Promise: ExecutorService: actions before the submission happen-before the task, and the task's before get.
// Way: submit and get are called through functional interfaces.
// Bad twin: two submitted method references of one object run at once.
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

class SubmitMethodReference {
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
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Function<Callable<Integer>, Future<Integer>> submit = pool::submit;
        submit.apply(job::add).get();
        submit.apply(job::add).get();
        pool.shutdown();
        return job.cell.value;
    }

    static int bad() throws Exception {
        Job job = new Job();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Function<Callable<Integer>, Future<Integer>> submit = pool::submit;
        Future<Integer> first = submit.apply(job::add);
        Future<Integer> second = submit.apply(job::add);
        first.get();
        second.get();
        pool.shutdown();
        return job.cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SubmitMethodReference::good, SubmitMethodReference::bad);
    }
}
