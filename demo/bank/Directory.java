package bank;

import java.util.HashMap;
import java.util.concurrent.locks.ReentrantLock;

/** Accounts by owner, shared by all branches. */
final class Directory {
    final ReentrantLock lock = new ReentrantLock();
    private final HashMap<String, Account> accounts = new HashMap<>();

    boolean contains(String owner) {
        lock.lock();
        try {
            return accounts.containsKey(owner);
        } finally {
            lock.unlock();
        }
    }

    void add(Account account) {
        lock.lock();
        try {
            accounts.put(account.owner(), account);
        } finally {
            lock.unlock();
        }
    }

    Account find(String owner) {
        lock.lock();
        try {
            return accounts.get(owner);
        } finally {
            lock.unlock();
        }
    }
}
