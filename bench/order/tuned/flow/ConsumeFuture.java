// Promise: SubmissionPublisher.consume returns a future that ends when the publisher has signalled its end; Future:
// that comes after the actions.
// Way: consume with a lambda that adds; join of the returned future.
// Bad twin: the cell is read before the future is joined.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SubmissionPublisher;

class ConsumeFuture {
    static class Cell {
        int value;
    }

    static int run(boolean early) throws Exception {
        Cell cell = new Cell();
        SubmissionPublisher<Integer> publisher = new SubmissionPublisher<>(task -> new Thread(task).start(), 16);
        CompletableFuture<Void> ended = publisher.consume(item -> {
            cell.value += item;
            Pair.pause();
        });
        for (int round = 0; round < 7; round++) {
            publisher.submit(6);
        }
        int seen = early ? Pair.repeatRead(() -> cell.value) : 0;
        publisher.close();
        ended.join();
        return early ? seen : cell.value;
    }

    static int good() throws Exception {
        return run(false);
    }

    static int bad() throws Exception {
        return run(true);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ConsumeFuture::good, ConsumeFuture::bad);
    }
}
