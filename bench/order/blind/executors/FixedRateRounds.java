// Promise: ScheduledThreadPoolExecutor: the effects of one execution of a periodic task happen-before those of the
// next.
// Way: scheduleAtFixedRate in a pool of two threads; the rounds add to a cell.
// Bad twin: two periodic tasks add to one cell.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

class FixedRateRounds {
    static class Cell {
        int value;
    }

    static Runnable adder(Cell cell, int amount, CountDownLatch rounds) {
        return () -> {
            if (rounds.getCount() > 0) {
                cell.value += amount;
                rounds.countDown();
            }
        };
    }

    static Runnable slowAdder(Cell cell, int rounds) {
        return () -> {
            for (int round = 0; round < rounds; round++) {
                cell.value++;
                Pair.pause();
            }
        };
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(2);
        CountDownLatch rounds = new CountDownLatch(6);
        pool.scheduleAtFixedRate(adder(cell, 7, rounds), 0, 1, TimeUnit.MILLISECONDS);
        rounds.await();
        pool.shutdownNow();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(2);
        pool.scheduleAtFixedRate(slowAdder(cell, 3), 0, 1, TimeUnit.MILLISECONDS);
        pool.scheduleAtFixedRate(slowAdder(cell, 4), 0, 1, TimeUnit.MILLISECONDS);
        Pair.repeat(Thread::yield);
        pool.shutdownNow();
        pool.awaitTermination(8, TimeUnit.SECONDS);
        return cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FixedRateRounds::good, FixedRateRounds::bad);
    }
}
