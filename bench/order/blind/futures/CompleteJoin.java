// Promise: java.util.concurrent, memory consistency: what a Future stands for happens-before retrieving its result.
// Way: complete by one thread, join by another.
// Bad twin: the completing thread writes after complete.
import java.util.concurrent.CompletableFuture;

class CompleteJoin {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Integer> future = new CompletableFuture<>();
        return Pair.together(() -> {
            cell.value = 42;
            future.complete(1);
        }, () -> {
            future.join();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CompletableFuture<Integer> future = new CompletableFuture<>();
        return Pair.together(() -> {
            future.complete(1);
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            future.join();
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CompleteJoin::good, CompleteJoin::bad);
    }
}
