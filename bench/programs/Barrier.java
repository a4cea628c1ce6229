package programs;

/** All parties wait here for the last one, again and again: the barrier that one writes with a monitor. */
final class Barrier {
    private final int parties;
    private int waiting;
    private int generation;

    Barrier(int parties) {
        this.parties = parties;
    }

    @NotAtomic
    synchronized void await() {
        int arrivedIn = generation;
        waiting++;
        if (waiting == parties) {
            waiting = 0;
            generation++;
            notifyAll();
            return;
        }
        boolean interrupted = false;
        while (generation == arrivedIn) {
            try {
                wait();
            } catch (InterruptedException exception) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
