import java.util.TimeZone;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Callable;

class Old {
    static int shared;
    static Object kept = new Object();
    private int value;

    static synchronized int next() {
        return ++shared;
    }

    synchronized long own(long add) {
        value += add;
        return value;
    }

    private int block(boolean fail) {
        synchronized (this) {
            try {
                if (fail) {
                    throw new IllegalStateException();
                }
                return value;
            } finally {
                value++;
            }
        }
    }

    static class Job implements Callable {
        public Object call() {
            return kept;
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(next());
        Old old = new Old();
        System.out.println(old.own(5));
        System.out.println(old.block(false));
        try {
            old.block(true);
        } catch (IllegalStateException exception) {
            System.out.println(old.value);
        }
        TimeZone.getTimeZone("UTC");
        try {
            Thread thread = new Thread(new FutureTask(new Job()), "old");
            thread.start();
            thread.join();
        } finally {
            System.out.println("done");
        }
    }
}
