package programs.mutants;

import programs.NotAtomic;

/**
 * The threads of a program. A program that has lost one of its locks may do anything: threads that die are
 * mourned at the end, and a program that does not end in time is ended.
 */
final class Crew {
    /** The exit code of a program that did not end by itself. */
    private static final int NEVER_ENDED = 3;
    /** The exit code of a program that came to a wrong result. */
    private static final int WRONG = 4;
    private static final long MOST_MILLIS = 30_000;
    private static final long MOURNING_MILLIS = 2_000;
    private static final long LOOK_MILLIS = 100;

    private Crew() {}

    /** Runs everybody to the end, each in a thread of its own. */
    @NotAtomic
    static void run(Runnable... members) throws InterruptedException {
        Watchdog watchdog = new Watchdog();
        Thread dog = new Thread(watchdog, "watchdog");
        dog.setDaemon(true);
        dog.start();
        Thread[] threads = new Thread[members.length];
        for (int i = 0; i < members.length; i++) {
            threads[i] = new Thread(members[i], members[i].getClass().getSimpleName() + " " + i);
            threads[i].setUncaughtExceptionHandler(watchdog);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Says whether the result is what it must be, and ends the program if it is not. */
    @NotAtomic
    static void expect(String what, long expected, long found) {
        if (expected == found) {
            System.out.println(what + " " + found);
        } else {
            System.out.println(what + " is wrong");
            System.exit(WRONG);
        }
    }

    /** Ends a program that will not end by itself: some time after a thread has died, or after a long time. */
    private static final class Watchdog implements Runnable, Thread.UncaughtExceptionHandler {
        private volatile boolean hasDeath;

        @Override
        public void uncaughtException(Thread thread, Throwable why) {
            System.err.println(thread.getName() + " has died: " + why);
            hasDeath = true;
        }

        @Override
        public void run() {
            try {
                long slept = 0;
                long left = MOST_MILLIS;
                while (slept < left) {
                    Thread.sleep(LOOK_MILLIS);
                    slept += LOOK_MILLIS;
                    if (hasDeath) {
                        left = Math.min(left, slept + MOURNING_MILLIS);
                        hasDeath = false;
                    }
                }
                System.exit(NEVER_ENDED);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
