package sample;

import org.junit.FixMethodOrder;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runners.MethodSorters;
import scission.junit.WatchedRule;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class CountersTest {
    @Rule
    public final WatchedRule watched = new WatchedRule();

    @Test
    public void aFirstDefect() throws InterruptedException {
        Counters counters = new Counters();
        inTwoThreads(() -> {
            for (int round = 0; round < 100; round++) {
                counters.countFirst();
            }
        });
    }

    @Test
    public void bIsRight() throws InterruptedException {
        Counters counters = new Counters();
        inTwoThreads(() -> {
            for (int round = 0; round < 100; round++) {
                counters.countGuarded();
            }
        });
    }

    @Test
    public void cSecondDefect() throws InterruptedException {
        Counters counters = new Counters();
        inTwoThreads(() -> {
            for (int round = 0; round < 100; round++) {
                counters.countSecond();
            }
        });
    }

    @Test
    public void dIsRightToo() throws InterruptedException {
        Counters counters = new Counters();
        inTwoThreads(() -> {
            for (int round = 0; round < 100; round++) {
                counters.countGuarded();
            }
        });
    }

    private static void inTwoThreads(Runnable work) throws InterruptedException {
        Thread[] threads = {new Thread(work), new Thread(work)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
