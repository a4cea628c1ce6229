// Promise: SubmissionPublisher: actions before submitting an item happen-before actions after the access by each
// subscriber.
// Way: a subscriber that reads the submitted cell in onNext.
// Bad twin: the publisher's thread writes the cell after submit.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;

class SubmitOnNext {
    static class Cell {
        int value;
    }

    static class Reader implements Flow.Subscriber<Cell> {
        final CompletableFuture<Integer> seen = new CompletableFuture<>();

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(1);
        }

        @Override
        public void onNext(Cell item) {
            int last = 0;
            for (int round = 0; round < 5; round++) {
                last = item.value;
                Pair.pause();
            }
            seen.complete(last);
        }

        @Override
        public void onError(Throwable failure) {
            seen.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            seen.complete(-1);
        }
    }

    static int run(boolean late) throws Exception {
        Reader reader = new Reader();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        SubmissionPublisher<Cell> publisher = new SubmissionPublisher<>(pool, 4);
        publisher.subscribe(reader);
        Cell item = new Cell();
        item.value = 42;
        publisher.submit(item);
        if (late) {
            Pair.repeat(() -> item.value = 43);
        }
        int seen = reader.seen.join();
        publisher.close();
        pool.shutdown();
        return seen;
    }

    static int good() throws Exception {
        return run(false);
    }

    static int bad() throws Exception {
        return run(true);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SubmitOnNext::good, SubmitOnNext::bad);
    }
}
