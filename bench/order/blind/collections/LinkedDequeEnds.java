// Promise: ConcurrentLinkedDeque: actions before placing an object happen-before actions after its removal by
// another thread.
// Way: added at one end, taken from the other, known as a Deque.
// Bad twin: the reader polls an empty deque, gets null, and reads a cell it knows already.
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;

class LinkedDequeEnds {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Deque<Cell> deque = new ConcurrentLinkedDeque<>();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            deque.addFirst(made);
        }, () -> {
            Pair.until(() -> !deque.isEmpty());
            return deque.pollLast().value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Deque<Cell> deque = new ConcurrentLinkedDeque<>();
        Deque<Cell> other = new ConcurrentLinkedDeque<>();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            deque.addFirst(cell);
        }), () -> Pair.repeatRead(() -> other.pollLast() == null ? cell.value : -1));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LinkedDequeEnds::good, LinkedDequeEnds::bad);
    }
}
