// Promise: CountDownLatch: the actions before each of the countDown calls happen-before a successful await.
// Way: two writers, a latch of two, through a method reference.
// Bad twin: the latch waits for one of the two writers only.
import java.util.concurrent.CountDownLatch;

class LatchSeveralWriters {
    static class Cell {
        int value;
    }

    static int run(int count) throws Exception {
        Cell first = new Cell();
        Cell second = new Cell();
        CountDownLatch latch = new CountDownLatch(count);
        Runnable done = latch::countDown;
        Thread other = new Thread(() -> {
            first.value = 40;
            done.run();
        });
        other.start();
        return Pair.together(() -> {
            if (count == 1) {
                Pair.repeat(() -> second.value = 2);
            }
            second.value = 2;
            done.run();
        }, () -> {
            latch.await();
            return Pair.repeatRead(() -> first.value + second.value);
        });
    }

    static int good() throws Exception {
        return run(2);
    }

    static int bad() throws Exception {
        return run(1);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LatchSeveralWriters::good, LatchSeveralWriters::bad);
    }
}
