// Promise: ExecutorService: a task's actions happen-before its result is retrieved; invokeAny returns the result of
// one that succeeded.
// Way: the winner's result is the cell that it has filled.
// Bad twin: a task that was not the winner goes on writing.
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class InvokeAny {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Callable<Cell> make = () -> {
            Cell made = new Cell();
            made.value = 42;
            return made;
        };
        int seen = pool.invokeAny(List.of(make, make)).value;
        pool.shutdown();
        return seen;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Callable<Integer> quick = () -> {
            Pair.pause();
            return 1;
        };
        Callable<Integer> slow = () -> {
            for (int round = 0; round < 3; round++) {
                Pair.repeat(() -> cell.value = 42);
            }
            return 2;
        };
        pool.invokeAny(List.of(slow, quick));
        int seen = Pair.repeatRead(() -> cell.value);
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InvokeAny::good, InvokeAny::bad);
    }
}
