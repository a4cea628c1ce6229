package sample.store;

import sample.core.Counter;

/** Counts its visitors with the counter of another module, correctly. */
public class Store {
    private final Counter visitors = new Counter();

    public synchronized void enter() {
        visitors.increment();
    }

    public synchronized int visitors() {
        return visitors.count();
    }
}
