// Promise: CountDownLatch: actions before countDown happen-before actions after a successful await.
// Way: direct.
// Bad twin: the writer writes after it has counted down.
import java.util.concurrent.CountDownLatch;

class LatchAwait {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CountDownLatch latch = new CountDownLatch(1);
        return Pair.together(() -> {
            cell.value = 42;
            latch.countDown();
        }, () -> {
            latch.await();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CountDownLatch latch = new CountDownLatch(1);
        return Pair.together(() -> {
            latch.countDown();
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            latch.await();
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LatchAwait::good, LatchAwait::bad);
    }
}
