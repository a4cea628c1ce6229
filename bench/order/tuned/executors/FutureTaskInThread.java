// Promise: FutureTask is a Future: the computation's actions happen-before those after get.
// Way: a FutureTask run by a thread of one's own.
// Bad twin: isDone says false, and the cell is read.
import java.util.concurrent.FutureTask;

class FutureTaskInThread {
    static class Cell {
        int value;
    }

    static FutureTask<Integer> start(Cell cell) {
        FutureTask<Integer> task = new FutureTask<>(() -> {
            Pair.repeat(() -> cell.value = 42);
            return 1;
        });
        new Thread(task).start();
        return task;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        FutureTask<Integer> task = start(cell);
        task.get();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        FutureTask<Integer> task = start(cell);
        int seen = Pair.repeatRead(() -> task.isDone() ? -1 : cell.value);
        task.get();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FutureTaskInThread::good, FutureTaskInThread::bad);
    }
}
