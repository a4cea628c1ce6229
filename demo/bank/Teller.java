package bank;

/** Moves money. The monitor of the teller keeps its own book, not the accounts of others. */
final class Teller {
    private long moved;
    private long largestSeen;

    /** Between the look and the withdrawal another teller may have emptied the account. */
    synchronized boolean transfer(Account from, Account to, long amount) {
        if (from.balance() < amount) {
            return false;
        }
        Thread.yield();
        from.withdraw(amount);
        to.deposit(amount);
        moved += amount;
        return true;
    }

    /** As it should be: both accounts are held from the look to the deposit; who takes two must take the bank first. */
    synchronized boolean transferFixed(Account from, Account to, long amount) {
        synchronized (Teller.class) {
            synchronized (from) {
                synchronized (to) {
                    if (from.balance() < amount) {
                        return false;
                    }
                    from.withdraw(amount);
                    to.deposit(amount);
                    moved += amount;
                    return true;
                }
            }
        }
    }

    /** The two looks are in a method that holds nothing; the lock around them is here. */
    synchronized long audit(Account account) {
        largestSeen = Math.max(largestSeen, spread(account));
        return largestSeen + moved;
    }

    private static long spread(Account account) {
        long before = account.balance();
        Thread.yield();
        return account.balance() - before;
    }
}
