// Promise: ExecutorService: invokeAll returns futures that are done; a task's actions happen-before the result is
// retrieved.
// Way: two tasks by invokeAll, then get of each.
// Bad twin: both tasks write one cell.
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

class InvokeAll {
    static class Cell {
        int value;
    }

    static int invoke(Cell first, Cell second) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = List.of(() -> add(first), () -> add(second));
        for (Future<Integer> done : pool.invokeAll(tasks)) {
            done.get();
        }
        pool.shutdown();
        return first == second ? first.value : first.value + second.value;
    }

    static int add(Cell cell) {
        for (int round = 0; round < 7; round++) {
            cell.value += 3;
            Pair.pause();
        }
        return cell.value;
    }

    static int good() throws Exception {
        return invoke(new Cell(), new Cell());
    }

    static int bad() throws Exception {
        Cell shared = new Cell();
        return invoke(shared, shared);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InvokeAll::good, InvokeAll::bad);
    }
}
