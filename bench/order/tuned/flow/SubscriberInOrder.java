// Promise: Flow.Subscriber: its methods are invoked in happens-before order for each subscription, also by several
// threads.
// Way: onNext adds to a plain cell of the subscriber; the publisher uses two threads.
// Bad twin: one subscriber object subscribes to two publishers, so that there are two subscriptions.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;

class SubscriberInOrder {
    static class Cell {
        int value;
    }

    static class Adder implements Flow.Subscriber<Integer> {
        final Cell cell = new Cell();
        final CountDownLatch ended;

        Adder(int subscriptions) {
            ended = new CountDownLatch(subscriptions);
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Integer item) {
            cell.value += item;
            Pair.pause();
        }

        @Override
        public void onError(Throwable failure) {
            ended.countDown();
        }

        @Override
        public void onComplete() {
            ended.countDown();
        }
    }

    static int run(int publishers) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Adder adder = new Adder(publishers);
        List<SubmissionPublisher<Integer>> all = new ArrayList<>();
        for (int round = 0; round < publishers; round++) {
            all.add(new SubmissionPublisher<>(pool, 16));
            all.get(round).subscribe(adder);
        }
        for (int item = 0; item < 7; item++) {
            for (SubmissionPublisher<Integer> publisher : all) {
                publisher.submit(6);
            }
        }
        for (SubmissionPublisher<Integer> publisher : all) {
            publisher.close();
        }
        adder.ended.await();
        pool.shutdown();
        return adder.cell.value;
    }

    static int good() throws Exception {
        return run(1);
    }

    static int bad() throws Exception {
        return run(2);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SubscriberInOrder::good, SubscriberInOrder::bad);
    }
}
