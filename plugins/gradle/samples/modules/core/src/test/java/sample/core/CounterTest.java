package sample.core;

import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class CounterTest {
    @Test
    public void countsInTwoThreads() throws InterruptedException {
        Counter counter = new Counter();
        Thread[] threads = new Thread[2];
        for (int index = 0; index < threads.length; index++) {
            threads[index] = new Thread(() -> {
                for (int round = 0; round < 100; round++) {
                    counter.increment();
                }
            });
            threads[index].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertTrue(counter.count() > 0);
    }
}
