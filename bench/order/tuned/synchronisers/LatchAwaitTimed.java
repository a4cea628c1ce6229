// Promise: CountDownLatch: a timed await that returns true is a successful one.
// Way: await with a limit.
// Bad twin: await returns false because its limit is over; the cell is read all the same.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

class LatchAwaitTimed {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CountDownLatch latch = new CountDownLatch(1);
        return Pair.together(() -> {
            cell.value = 42;
            latch.countDown();
        }, () -> latch.await(8, TimeUnit.SECONDS) ? cell.value : -1);
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CountDownLatch latch = new CountDownLatch(1);
        return Pair.together(() -> {
            for (int round = 0; round < 3; round++) {
                Pair.repeat(() -> cell.value = 42);
            }
            latch.countDown();
        }, () -> {
            boolean success = latch.await(1, TimeUnit.MILLISECONDS);
            return Pair.repeatRead(() -> success ? -1 : cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LatchAwaitTimed::good, LatchAwaitTimed::bad);
    }
}
