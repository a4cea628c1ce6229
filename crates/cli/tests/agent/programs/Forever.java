package torture;

/** Threads that make events until somebody ends them; after the given number of rounds they end by themselves. */
public class Forever {
    private int value;
    private int other;
    private Forever next;

    public static void main(String[] arguments) throws Exception {
        long rounds = arguments.length > 0 ? Long.parseLong(arguments[0]) : Long.MAX_VALUE;
        Forever[] ring = new Forever[8];
        for (int i = 0; i < ring.length; i++) {
            ring[i] = new Forever();
            ring[i].next = ring[Math.max(0, i - 1)];
        }
        ring[0].next = ring[ring.length - 1];
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            Forever start = ring[i];
            threads[i] = new Thread(() -> work(start, rounds), "worker-" + i);
            threads[i].start();
        }
        System.out.println("ready");
        for (Thread thread : threads) {
            thread.join();
        }
        long sum = 0;
        for (Forever each : ring) {
            sum += each.value;
        }
        System.out.println("done " + sum);
    }

    private static void work(Forever start, long rounds) {
        Forever at = start;
        for (long i = 0; i < rounds; i++) {
            at.step();
            Forever fresh = new Forever();
            fresh.other = (int) i;
            at = at.next();
            at.exchange(fresh);
        }
    }

    synchronized void step() {
        value++;
        other ^= value;
    }

    synchronized void exchange(Forever fresh) {
        other += fresh.other;
    }

    synchronized Forever next() {
        return next;
    }
}
