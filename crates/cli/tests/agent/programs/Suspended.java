package torture;

/**
 * Threads that report all the time, each with a lock of its own, and are suspended for longer than their reports are
 * waited for. In the end each says how often it has taken its lock.
 */
public class Suspended {
    private static final int WORKERS = 8;
    private static final int SUSPENSIONS = 2;
    private static final int LONG = 5_000;

    private static volatile boolean isOver;

    private long rounds;

    public static void main(String[] arguments) throws Exception {
        Suspended[] own = new Suspended[WORKERS];
        Thread[] workers = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            Suspended mine = own[i] = new Suspended();
            workers[i] = new Thread(mine::work, "worker-" + i);
            workers[i].start();
        }
        Thread.sleep(1_000);
        for (int i = 0; i < SUSPENSIONS; i++) {
            for (Thread worker : workers) {
                worker.suspend();
            }
            Thread.sleep(LONG);
            for (Thread worker : workers) {
                worker.resume();
            }
            Thread.sleep(1_000);
        }
        isOver = true;
        long rounds = 0;
        for (int i = 0; i < WORKERS; i++) {
            workers[i].join();
            rounds += own[i].rounds;
        }
        System.out.println(rounds);
    }

    private void work() {
        while (!isOver) {
            step();
        }
    }

    private synchronized void step() {
        rounds++;
    }
}
