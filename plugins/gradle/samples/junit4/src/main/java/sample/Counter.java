package sample;

/** Counts, and loses counts: two threads may increment at once. */
public class Counter {
    private int count;

    public void increment() {
        count++;
    }

    public int count() {
        return count;
    }
}
