package programs;

/** What every program of this folder does at its beginning and at its end: it measures itself, and says what came out. */
final class Measurement {
    private final long start = System.nanoTime();
    private final HeapWatch heap;

    private Measurement(HeapWatch heap) {
        this.heap = heap;
    }

    /** With `-Dheap=true` it is the heap that is measured, and the time means nothing. */
    static Measurement begin() {
        HeapWatch heap = null;
        if (Boolean.getBoolean("heap")) {
            heap = new HeapWatch();
            Thread watcher = new Thread(heap, "heap-watch");
            watcher.setDaemon(true);
            watcher.start();
        }
        return new Measurement(heap);
    }

    /** Prints the result, which is the same in every run, and how long it took, which is not. */
    void end(long checksum) {
        long millis = (System.nanoTime() - start) / 1_000_000;
        System.out.println("checksum " + Long.toHexString(checksum));
        System.out.println("millis " + millis);
        if (heap != null) {
            System.out.println("heap " + heap.highest());
        }
    }

    /** Collects the garbage again and again, and remembers the most bytes that were left. */
    private static final class HeapWatch implements Runnable {
        private long highest;

        @Override
        public void run() {
            while (true) {
                look();
            }
        }

        synchronized long highest() {
            return highest;
        }

        private synchronized void look() {
            long before = System.nanoTime();
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            highest = Math.max(highest, runtime.totalMemory() - runtime.freeMemory());
            // At most a quarter of the time goes into this.
            long millis = (System.nanoTime() - before) / 1_000_000;
            try {
                wait(50 + 3 * millis);
            } catch (InterruptedException exception) {
                throw new IllegalStateException(exception);
            }
        }
    }

    /** The first argument, or what is usual. */
    static int size(String[] arguments, int usual) {
        return arguments.length > 0 ? Integer.parseInt(arguments[0]) : usual;
    }

    /** The second argument, or two: that many threads do the work. */
    static int threads(String[] arguments) {
        return arguments.length > 1 ? Integer.parseInt(arguments[1]) : 2;
    }

    /** Starts one thread for each task, and waits for the end of all. */
    @NotAtomic
    static void runAll(Runnable[] tasks) throws InterruptedException {
        Thread[] threads = new Thread[tasks.length];
        for (int i = 0; i < tasks.length; i++) {
            threads[i] = new Thread(tasks[i], "worker-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Mixes a value into a checksum; the order of the calls counts. */
    static long mix(long checksum, long value) {
        long mixed = (checksum ^ value) * 0x9E3779B97F4A7C15L;
        return mixed ^ (mixed >>> 29);
    }

    /** Mixes a number with a fraction into a checksum, rounded to what every order of additions agrees on. */
    static long mix(long checksum, double value) {
        return mix(checksum, Math.round(value * 1e6));
    }
}
