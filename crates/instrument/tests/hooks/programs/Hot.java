import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

class Hot {
    private int value;
    private long wide;
    private static int shared;
    private final ReentrantLock lock = new ReentrantLock();

    private int block(int way) {
        synchronized (this) {
            if (way == 3) {
                return value;
            }
            synchronized (lock) {
                value += way;
            }
        }
        for (int i = 0; i < 2; i++) {
            synchronized (Hot.class) {
                if (i == 1) {
                    break;
                }
                shared++;
            }
        }
        return value;
    }

    private int guarded(int way) {
        synchronized (this) {
            try {
                if (way == 5) {
                    throw new IllegalStateException();
                }
                wide++;
            } catch (IllegalStateException exception) {
                value--;
            } finally {
                shared++;
            }
        }
        return value;
    }

    synchronized long method(int way) {
        if (way == 7) {
            throw new IllegalArgumentException();
        }
        return wide += way;
    }

    static synchronized int staticMethod() {
        return shared++;
    }

    int locked(long seconds) throws InterruptedException {
        if (lock.tryLock(seconds, TimeUnit.SECONDS)) {
            try {
                return value++;
            } finally {
                lock.unlock();
            }
        }
        return 0;
    }

    static int fill(int[] numbers, long[] longs) {
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i;
            longs[i] += numbers[i];
        }
        return numbers.length;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Hot hot = new Hot();
        int[] numbers = new int[10];
        long[] longs = new long[10];
        long sum = 0;
        for (int i = 0; i < 30_000; i++) {
            sum += hot.block(i % 8);
            sum += hot.guarded(i % 8);
            try {
                sum += hot.method(i % 8);
            } catch (IllegalArgumentException exception) {
                sum--;
            }
            sum += staticMethod() + hot.locked(1L) + fill(numbers, longs);
        }
        System.out.println(sum);
    }
}
