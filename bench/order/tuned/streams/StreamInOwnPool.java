// Promise: actions before a task is submitted to a ForkJoinPool happen-before it, and its parallel streams are part
// of it.
// Way: a parallel stream is run by a task of one's own pool and reads what was filled before.
// Bad twin: the submitter goes on writing.
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.stream.IntStream;

class StreamInOwnPool {
    static class Cell {
        int value;
    }

    static int read(Cell cell) {
        return IntStream.range(0, 8).parallel().map(number -> {
            Pair.pause();
            return cell.value;
        }).max().getAsInt();
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ForkJoinPool pool = new ForkJoinPool(2);
        cell.value = 42;
        int seen = pool.submit(() -> read(cell)).get();
        pool.shutdown();
        return seen;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ForkJoinPool pool = new ForkJoinPool(2);
        ForkJoinTask<Integer> answer = pool.submit(() -> read(cell));
        Pair.repeat(() -> cell.value = 42);
        int seen = answer.get();
        pool.shutdown();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StreamInOwnPool::good, StreamInOwnPool::bad);
    }
}
