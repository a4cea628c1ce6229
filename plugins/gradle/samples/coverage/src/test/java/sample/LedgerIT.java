package sample;

import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class LedgerIT {
    @Test
    public void countsInTwoThreads() throws InterruptedException {
        Ledger ledger = new Ledger();
        Thread[] threads = new Thread[2];
        for (int index = 0; index < threads.length; index++) {
            threads[index] = new Thread(() -> {
                for (int round = 0; round < 100; round++) {
                    ledger.increment();
                }
            });
            threads[index].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertTrue(ledger.count() > 0);
    }
}
