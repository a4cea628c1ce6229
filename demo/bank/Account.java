package bank;

/** An account that any thread may use: every method on its own is safe. */
final class Account {
    private final String owner;
    private long cents;

    Account(String owner, long cents) {
        this.owner = owner;
        this.cents = cents;
    }

    String owner() {
        return owner;
    }

    synchronized long balance() {
        return cents;
    }

    synchronized void deposit(long amount) {
        cents += amount;
    }

    synchronized void withdraw(long amount) {
        cents -= amount;
    }
}
