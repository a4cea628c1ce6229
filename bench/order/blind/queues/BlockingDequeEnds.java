// Promise: BlockingDeque: actions before placing an object happen-before actions after its access or removal by
// another thread.
// Way: a LinkedBlockingDeque, putFirst and takeLast.
// Bad twin: the reader takes from another deque.
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.LinkedBlockingDeque;

class BlockingDequeEnds {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        BlockingDeque<Cell> deque = new LinkedBlockingDeque<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            deque.putFirst(made);
        }, () -> deque.takeLast().value);
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        BlockingDeque<Cell> deque = new LinkedBlockingDeque<>();
        BlockingDeque<Cell> other = new LinkedBlockingDeque<>();
        other.putFirst(cell);
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            deque.putFirst(cell);
        }, () -> {
            Cell taken = other.takeLast();
            return Pair.repeatRead(() -> taken.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, BlockingDequeEnds::good, BlockingDequeEnds::bad);
    }
}
