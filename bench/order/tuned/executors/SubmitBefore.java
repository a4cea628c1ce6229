// Promise: ExecutorService: actions before a task is submitted happen-before the task's actions.
// Way: submit of a Callable.
// Bad twin: the submitter writes after it has submitted.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class SubmitBefore {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        pool.submit(() -> 0).get();
        cell.value = 42;
        Future<Integer> answer = pool.submit(() -> cell.value);
        int seen = answer.get();
        pool.shutdown();
        return seen;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        pool.submit(() -> 0).get();
        Future<Integer> answer = pool.submit(() -> Pair.repeatRead(() -> cell.value));
        Pair.repeat(() -> cell.value = 42);
        int seen = answer.get();
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SubmitBefore::good, SubmitBefore::bad);
    }
}
