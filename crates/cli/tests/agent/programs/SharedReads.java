package torture;

import java.lang.reflect.Field;
import java.util.concurrent.CyclicBarrier;

/**
 * Threads that read what they share, again and again. The arguments: how many threads; how many elements; how often each
 * thread reads each; and how often all that begins anew, with another array and other threads. At the end it says how many
 * variables had notes of their reads at a time.
 */
public final class SharedReads {
    private static int[] elements;

    private SharedReads() {}

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        int length = Integer.parseInt(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        for (int i = Integer.parseInt(arguments[3]); i > 0; i--) {
            elements = new int[length];
            for (int at = 0; at < length; at++) {
                elements[at] = at;
            }
            shareThem(threads, rounds);
            elements = null;
            System.gc();
        }
        System.out.println("done");
        System.out.println("variables " + variables());
    }

    private static void shareThem(int threads, int rounds) throws Exception {
        // All are alive all the time, so that none can have what another one has given back.
        CyclicBarrier barrier = new CyclicBarrier(threads);
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Thread(() -> {
                try {
                    for (int round = 0; round < rounds; round++) {
                        barrier.await();
                        readAll();
                    }
                    barrier.await();
                } catch (Exception exception) {
                    throw new IllegalStateException(exception);
                }
            }, "reader-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
    }

    static int readAll() {
        int[] all = elements;
        int sum = 0;
        for (int i = 0; i < all.length; i++) {
            sum += all[i];
        }
        return sum;
    }

    private static long variables() throws Exception {
        Field next = Class.forName("java.lang.ScissionNotes").getDeclaredField("nextIndex");
        next.setAccessible(true);
        return next.getLong(null) - (1L << 20);
    }
}
