// Promise: Semaphore: who acquires several permits comes after the releases that gave them.
// Way: the reader acquires as many permits as all writers release.
// Bad twin: the reader acquires one permit that was there before.
import java.util.concurrent.Semaphore;

class SemaphoreMany {
    static class Cell {
        int value;
    }

    static int run(int before, int wanted) throws Exception {
        Cell cell = new Cell();
        Semaphore permits = new Semaphore(before);
        return Pair.together(() -> {
            for (int round = 0; round < 7; round++) {
                cell.value += 6;
                permits.release();
                Pair.pause();
            }
        }, () -> {
            permits.acquireUninterruptibly(wanted);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    static int good() throws Exception {
        return run(0, 7);
    }

    static int bad() throws Exception {
        return run(1, 1);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SemaphoreMany::good, SemaphoreMany::bad);
    }
}
