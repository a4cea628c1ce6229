package sample;

/** A counter that is right, and two that lose counts. */
public class Counters {
    private int guarded;
    private int first;
    private int second;

    public synchronized void countGuarded() {
        guarded++;
    }

    public void countFirst() {
        first++;
    }

    public void countSecond() {
        second++;
    }

    public synchronized int sum() {
        return guarded + first + second;
    }
}
