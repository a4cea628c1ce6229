class Blocks {
    @interface Atomic { }
    @interface NotAtomic { }

    private int first;
    private int second;

    int getter() {
        return first;
    }

    void leaf() {
        first = second;
    }

    void caller() {
        first = helper();
    }

    private int helper() {
        first = second;
        return 1;
    }

    private synchronized void lockedPrivate() {
        first++;
    }

    @Atomic
    private void annotated() {
        first = second;
    }

    @NotAtomic
    void unannotated() {
        first = second;
    }

    void excluded() {
        first = second;
    }

    void pure() {
        second = Math.max(first, 1);
    }

    int fails() {
        first = second;
        throw new IllegalStateException();
    }

    // Waiting for a thread cuts the block, sleeping and locking do not.
    void waits() throws InterruptedException {
        first = second;
        Thread.currentThread().join(1);
        java.util.concurrent.locks.LockSupport.parkNanos(1);
        Thread.sleep(1);
        java.util.concurrent.locks.Lock lock = new java.util.concurrent.locks.ReentrantLock();
        lock.lock();
        lock.unlock();
        first = second;
    }

    // May be the body of a task, and is called as any other method.
    void run() {
        first = second;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Blocks blocks = new Blocks();
        blocks.waits();
        blocks.run();
        blocks.getter();
        blocks.leaf();
        blocks.caller();
        blocks.lockedPrivate();
        blocks.annotated();
        blocks.unannotated();
        blocks.excluded();
        blocks.pure();
        try {
            blocks.fails();
        } catch (IllegalStateException exception) {
            System.out.println("failed");
        }
    }
}
