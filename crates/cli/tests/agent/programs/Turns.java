package torture;

/**
 * Lets threads take turns without being seen: this class is not watched, so that no order between them is known.
 * Nobody waits for long: a thread whose predecessor does not come out of its turn goes ahead.
 */
final class Turns {
    /** Much longer than a turn takes, and much shorter than a thread is held back. */
    private static final long PATIENCE = 200;

    private int done;

    /** Waits until so many turns are over, or patience is. */
    synchronized void await(int turns) throws InterruptedException {
        long end = System.nanoTime() / 1_000_000 + PATIENCE;
        long left = PATIENCE;
        while (done < turns && left > 0) {
            wait(left);
            left = end - System.nanoTime() / 1_000_000;
        }
    }

    /** Waits until so many turns are over, however long that takes. */
    synchronized void awaitPatiently(int turns) throws InterruptedException {
        while (done < turns) {
            wait();
        }
    }

    /** A turn is over. */
    synchronized void done() {
        done++;
        notifyAll();
    }
}
