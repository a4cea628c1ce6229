package torture;

/**
 * A thread does suspicious things while nobody else can run: one thread waits, one waits for a lock. Then another
 * one interrupts it in the middle of them.
 */
public final class Alone {
    private static final int TIMES = 40;

    private int balance;

    private Alone() { }

    void deposit() {
        int read = balance;
        balance = read + 1;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Alone alone = new Alone();
        Turns turns = new Turns();
        Object lock = new Object();
        alone.deposit();
        Thread waiting = new Thread(() -> {
            alone.deposit();
            turns.done();
            await(turns, 2);
        });
        Thread blocked = new Thread(() -> {
            synchronized (lock) {
                alone.deposit();
            }
        });
        waiting.start();
        turns.awaitPatiently(1);
        synchronized (lock) {
            blocked.start();
            while (blocked.getState() != Thread.State.BLOCKED
                    || waiting.getState() != Thread.State.WAITING) {
                Thread.yield();
            }
            for (int i = 0; i < TIMES; i++) {
                alone.deposit();
                pause();
            }
            if (arguments.length > 0) {
                Thread.currentThread().interrupt();
                alone.deposit();
                System.out.println(Thread.interrupted() ? "interrupted" : "not interrupted");
            }
        }
        turns.done();
        waiting.join();
        blocked.join();
        System.out.println(alone.balance);
    }

    private static void await(Turns turns, int count) {
        try {
            turns.awaitPatiently(count);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Time for the monitors to see what was done. */
    private static void pause() throws InterruptedException {
        Thread.sleep(2);
    }
}
