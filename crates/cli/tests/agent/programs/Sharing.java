package torture;

/** Threads that share some fields and not others. */
public class Sharing {
    static class Base {
        int inherited;
    }

    static class Sub extends Base {
        int unused;
    }

    /** Each thread has its own. */
    static class Own {
        int count;
        int other;

        void add(int amount) {
            count += amount;
            other = count;
        }
    }

    private static int total;

    private final Sub sub = new Sub();
    private int balance;
    private int spare;
    /** Used by the main thread alone. */
    private int alone;

    synchronized int balance() {
        return balance;
    }

    synchronized void setBalance(int next) {
        balance = next;
    }

    synchronized void useSpare(int amount) {
        spare += amount;
    }

    void deposit(int amount) {
        int before = balance();
        if (amount > 1000) {
            useSpare(amount);
        }
        setBalance(before + amount);
    }

    static synchronized void count(Sharing sharing) {
        total++;
        sharing.sub.inherited++;
    }

    public static void main(String[] arguments) throws Exception {
        Sharing sharing = new Sharing();
        Runnable task = () -> {
            Own own = new Own();
            for (int i = 0; i < 10; i++) {
                own.add(i);
            }
            sharing.deposit(own.count);
            count(sharing);
        };
        Thread first = new Thread(task, "first");
        Thread second = new Thread(() -> {
            try {
                Thread.sleep(200);
            } catch (InterruptedException interrupted) {
                return;
            }
            task.run();
        }, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        sharing.alone++;
        System.out.println("done");
    }
}
