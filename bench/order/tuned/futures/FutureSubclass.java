// Promise: CompletableFuture may be subclassed; what completes it happens-before retrieving its result.
// Way: a subclass completes itself in a method of its own.
// Bad twin: the subclass returns its cell without waiting.
import java.util.concurrent.CompletableFuture;

class FutureSubclass {
    static class Cell {
        int value;
    }

    static class Answer extends CompletableFuture<Integer> {
        private final Cell cell = new Cell();

        void give(int value) {
            cell.value = value;
            complete(value);
        }

        int await() {
            join();
            return cell.value;
        }

        int peek() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        Answer answer = new Answer();
        return Pair.together(() -> answer.give(42), answer::await);
    }

    static int bad() throws Exception {
        Answer answer = new Answer();
        return Pair.together(() -> Pair.repeat(() -> answer.give(42)), () -> Pair.repeatRead(answer::peek));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FutureSubclass::good, FutureSubclass::bad);
    }
}
