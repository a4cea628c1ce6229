package sample;

/** Counts. */
public class Counter {
    private int count;

    public synchronized void increment() {
        count++;
    }

    public synchronized int count() {
        return count;
    }
}
