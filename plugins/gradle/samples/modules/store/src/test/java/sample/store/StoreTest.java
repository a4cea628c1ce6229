package sample.store;

import static org.testng.Assert.assertTrue;

import org.testng.annotations.Test;

public class StoreTest {
    @Test
    public void countsInTwoThreads() throws InterruptedException {
        Store store = new Store();
        Thread[] threads = new Thread[2];
        for (int index = 0; index < threads.length; index++) {
            threads[index] = new Thread(() -> {
                for (int round = 0; round < 100; round++) {
                    store.enter();
                }
            });
            threads[index].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertTrue(store.visitors() > 0);
    }
}
