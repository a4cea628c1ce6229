package torture;

import java.util.concurrent.CountDownLatch;

/** All the ways in which a program ends, chosen by the argument. */
public class Endings {
    private static int work;
    private static final Object LOCK = new Object();

    public static void main(String[] arguments) throws Exception {
        System.out.println("before");
        Thread busy = new Thread(Endings::workForEver, "busy");
        busy.setDaemon(true);
        switch (arguments[0]) {
            case "return":
                break;
            case "return-while-daemons-work":
                busy.start();
                awaitWork();
                break;
            case "last-thread":
                new Thread(() -> {
                    pause(50);
                    System.out.println("the last thread");
                }).start();
                break;
            case "exit":
                System.exit(7);
                break;
            case "exit-while-others-work":
                busy.start();
                new Thread(Endings::workForEver).start();
                awaitWork();
                System.exit(8);
                break;
            case "exit-while-others-report":
                new Thread(Endings::reportForEver).start();
                pause(500);
                System.exit(8);
                break;
            case "exit-holding-locks":
                busy.start();
                synchronized (LOCK) {
                    System.exit(9);
                }
                break;
            case "exit-from-thread":
                new Thread(() -> System.exit(10)).start();
                pause(100_000);
                break;
            case "exit-with-hook":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                    synchronized (LOCK) {
                        work++;
                    }
                    System.out.println("hook");
                }));
                System.exit(11);
                break;
            case "halt":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("never")));
                busy.start();
                awaitWork();
                Runtime.getRuntime().halt(12);
                break;
            case "halt-in-hook":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(13)));
                System.exit(1);
                break;
            case "uncaught":
                throw new IllegalStateException("uncaught", new RuntimeException("because"));
            case "uncaught-while-others-live":
                new Thread(() -> {
                    pause(50);
                    System.out.println("still here");
                }).start();
                throw new IllegalStateException("main is gone");
            case "uncaught-in-initialiser":
                System.out.println(Broken.value);
                break;
            case "stack-overflow":
                try {
                    recurse();
                } catch (StackOverflowError error) {
                    // The depth differs from run to run; the rest of the trace does not.
                    error.setStackTrace(new StackTraceElement[0]);
                    throw error;
                }
                break;
            case "out-of-memory":
                System.out.println(new long[Integer.MAX_VALUE - 8].length);
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("after");
    }

    static class Broken {
        static int value = work / 0;
    }

    private static void recurse() {
        work++;
        recurse();
    }

    private static volatile long told;

    /** Makes events faster than anybody can look at them. */
    private static void reportForEver() {
        while (true) {
            told++;
        }
    }

    private static void workForEver() {
        while (true) {
            synchronized (LOCK) {
                work++;
            }
        }
    }

    private static void awaitWork() {
        while (true) {
            synchronized (LOCK) {
                if (work > 1000) {
                    return;
                }
            }
            Thread.yield();
        }
    }

    private static void pause(long millis) {
        try {
            new CountDownLatch(1).await(millis, java.util.concurrent.TimeUnit.MILLISECONDS);
        } catch (InterruptedException exception) {
            throw new IllegalStateException(exception);
        }
    }
}
