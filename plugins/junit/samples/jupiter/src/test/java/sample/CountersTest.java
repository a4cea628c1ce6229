package sample;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import scission.junit.Watched;

@Watched
@TestMethodOrder(MethodOrderer.MethodName.class)
class CountersTest {
    @Test
    void aFirstDefect() throws InterruptedException {
        Counters counters = new Counters();
        inTwoThreads(() -> {
            for (int round = 0; round < 100; round++) {
                counters.countFirst();
            }
        });
    }

    @Test
    void bIsRight() throws InterruptedException {
        Counters counters = new Counters();
        inTwoThreads(() -> {
            for (int round = 0; round < 100; round++) {
                counters.countGuarded();
            }
        });
    }

    @Test
    void cSecondDefect() throws InterruptedException {
        Counters counters = new Counters();
        inTwoThreads(() -> {
            for (int round = 0; round < 100; round++) {
                counters.countSecond();
            }
        });
    }

    @Test
    void dIsRightToo() throws InterruptedException {
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
