package sample;

/** Counts, and loses counts: two threads may increment at once. */
public class Ledger {
    private int count;

    public void increment() {
        count++;
    }

    public int count() {
        return count;
    }
}
