// Promise: ScheduledThreadPoolExecutor: the effects of one execution of a periodic task happen-before those of the
// next.
// Way: scheduleWithFixedDelay; the last round's count is got by awaitTermination.
// Bad twin: main reads while the rounds go on.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

class FixedDelayRounds {
    static class Cell {
        int value;
    }

    static class Rounds implements Runnable {
        final Cell cell = new Cell();
        final CountDownLatch enough = new CountDownLatch(6);

        @Override
        public void run() {
            if (cell.value < 42) {
                cell.value += 7;
                enough.countDown();
            }
        }
    }

    static int good() throws Exception {
        Rounds rounds = new Rounds();
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(3);
        pool.scheduleWithFixedDelay(rounds, 0, 1, TimeUnit.MILLISECONDS);
        rounds.enough.await();
        pool.shutdown();
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return rounds.cell.value;
    }

    static int bad() throws Exception {
        Rounds rounds = new Rounds();
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(3);
        pool.scheduleWithFixedDelay(rounds, 0, 1, TimeUnit.MILLISECONDS);
        int seen = Pair.repeatRead(() -> rounds.cell.value);
        pool.shutdown();
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FixedDelayRounds::good, FixedDelayRounds::bad);
    }
}
