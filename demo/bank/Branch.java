package bank;

/** One counter of the bank. Its own state is guarded by its monitor. */
final class Branch {
    private final Directory directory;
    private int opened;
    private int refused;

    Branch(Directory directory) {
        this.directory = directory;
    }

    /** Two branches may both find the name free, and the second account replaces the first. */
    synchronized void open(String owner, long cents) {
        if (directory.contains(owner)) {
            refused++;
            return;
        }
        Thread.yield();
        directory.add(new Account(owner, cents));
        opened++;
    }

    /** As it should be: the directory cannot change between the question and the answer. */
    synchronized void openFixed(String owner, long cents) {
        directory.lock.lock();
        try {
            if (directory.contains(owner)) {
                refused++;
                return;
            }
            directory.add(new Account(owner, cents));
            opened++;
        } finally {
            directory.lock.unlock();
        }
    }

    synchronized String statistics() {
        return opened + " opened, " + refused + " refused";
    }
}
