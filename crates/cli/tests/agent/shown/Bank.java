package shown;

/** Two tellers pay into one account; the second one comes while the first one counts. */
public class Bank {
    static class Account {
        private int balance;

        void deposit(int amount) {
            int before = balance;
            Turn.doneBy(Thread.currentThread());
            balance = before + amount;
        }
    }

    private final Account savings = new Account();

    void payday() {
        savings.deposit(10);
        new Account().deposit(1);
    }

    public static void main(String[] arguments) throws Exception {
        Bank bank = new Bank();
        Thread first = new Thread(() -> {
            bank.payday();
            Turn.closed();
        }, "teller-1");
        Thread second = new Thread(() -> {
            Turn.awaitSecond();
            bank.payday();
            Turn.end();
        }, "teller-2");
        first.start();
        second.start();
        first.join();
        second.join();
    }
}

/** Makes the threads take turns; it is not watched. */
final class Turn {
    private static boolean isSecond;
    private static boolean hasEnded;

    private Turn() {
    }

    /** The first teller waits in its first deposit until the second one has done all of its work. */
    static synchronized void doneBy(Thread thread) {
        if (thread.getName().equals("teller-1")) {
            isSecond = true;
            Turn.class.notifyAll();
            while (!hasEnded) {
                pause();
            }
        }
    }

    static synchronized void awaitSecond() {
        while (!isSecond) {
            pause();
        }
    }

    /** What the first teller does last: a body that only called `payday` would make that its body. */
    static void closed() {
    }

    static synchronized void end() {
        hasEnded = true;
        Turn.class.notifyAll();
    }

    private static void pause() {
        try {
            Turn.class.wait();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
