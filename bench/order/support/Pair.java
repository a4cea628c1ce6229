/**
 * Runs the two versions of a program of this suite. Nothing in this class orders the two threads of a version against
 * each other: they are started one after the other, and joined when both have run.
 */
final class Pair {
    private static final int REPETITIONS = 5;
    private static final long PAUSE_NANOSECONDS = 4_000_000L;
    private static final long MOST_NANOSECONDS = 20_000_000_000L;

    private Pair() {
    }

    /** What a thread does. */
    interface Action {
        void run() throws Exception;
    }

    /** What a thread reads. */
    interface Reading {
        int read() throws Exception;
    }

    /** What a thread waits for. */
    interface Condition {
        boolean holds() throws Exception;
    }

    /**
     * Runs the version that the argument names, and prints one line. The good version must give 42. A program that needs a
     * newer Java than this says so by an UnsupportedOperationException, and is skipped.
     */
    static void main(String[] arguments, Reading good, Reading bad) throws Exception {
        boolean isGood = arguments.length == 1 && arguments[0].equals("good");
        if (!isGood && !(arguments.length == 1 && arguments[0].equals("bad"))) {
            System.err.println("argument: good or bad");
            System.exit(2);
        }
        int value;
        try {
            value = isGood ? good.read() : bad.read();
        } catch (UnsupportedOperationException missing) {
            System.out.println("skipped: " + missing.getMessage());
            return;
        }
        System.out.println(arguments[0] + " " + value);
        if (isGood && value != 42) {
            System.exit(1);
        }
    }

    /** Runs both in threads of their own at the same time, and returns what the reader read. */
    static int together(Action writer, Reading reader) throws Exception {
        Task first = new Task(() -> {
            writer.run();
            return 0;
        });
        Task second = new Task(reader);
        Thread firstThread = new Thread(first, "writer");
        Thread secondThread = new Thread(second, "reader");
        firstThread.start();
        secondThread.start();
        firstThread.join(2 * MOST_NANOSECONDS / 1_000_000);
        secondThread.join(2 * MOST_NANOSECONDS / 1_000_000);
        if (firstThread.isAlive() || secondThread.isAlive()) {
            throw new IllegalStateException("a thread does not end");
        }
        first.rethrow();
        second.rethrow();
        return second.result;
    }

    /** Does something several times, some milliseconds apart. */
    static void repeat(Action action) throws Exception {
        for (int round = 0; round < REPETITIONS; round++) {
            action.run();
            pause();
        }
    }

    /** Reads several times, some milliseconds apart, and returns what it read last. */
    static int repeatRead(Reading reading) throws Exception {
        int last = 0;
        for (int round = 0; round < REPETITIONS; round++) {
            last = reading.read();
            pause();
        }
        return last;
    }

    /** Reads again and again until there is something other than zero. */
    static int poll(Reading reading) throws Exception {
        long begun = System.nanoTime();
        int value = reading.read();
        while (value == 0) {
            tooLong(begun);
            Thread.yield();
            value = reading.read();
        }
        return value;
    }

    /** Waits, by asking again and again. */
    static void until(Condition condition) throws Exception {
        long begun = System.nanoTime();
        while (!condition.holds()) {
            tooLong(begun);
            Thread.yield();
        }
    }

    /** Lets some milliseconds pass without any synchronisation. */
    static void pause() {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < PAUSE_NANOSECONDS) {
            Thread.onSpinWait();
        }
    }

    private static void tooLong(long begun) {
        if (System.nanoTime() - begun > MOST_NANOSECONDS) {
            throw new IllegalStateException("what is waited for does not come");
        }
    }

    /** The body of one of the two threads. What it leaves is read after a join. */
    private static final class Task implements Runnable {
        private final Reading body;
        private int result;
        private Exception failure;

        Task(Reading body) {
            this.body = body;
        }

        @Override
        public void run() {
            try {
                result = body.read();
            } catch (Exception exception) {
                failure = exception;
            }
        }

        void rethrow() throws Exception {
            if (failure != null) {
                throw failure;
            }
        }
    }
}
