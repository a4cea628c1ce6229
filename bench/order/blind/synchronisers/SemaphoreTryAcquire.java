// Promise: Semaphore: a successful tryAcquire is an acquire; a failed one promises nothing.
// Way: tryAcquire again and again, and with a limit.
// Bad twin: tryAcquire fails, and the cell is read all the same.
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

class SemaphoreTryAcquire {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Semaphore permits = new Semaphore(0, true);
        return Pair.together(() -> {
            cell.value = 42;
            permits.release(2);
        }, () -> {
            Pair.until(permits::tryAcquire);
            return permits.tryAcquire(8, TimeUnit.SECONDS) ? cell.value : -1;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Semaphore permits = new Semaphore(0, true);
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            permits.release(2);
        }, () -> Pair.repeatRead(() -> {
            boolean success = permits.tryAcquire();
            return success ? -1 : cell.value;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SemaphoreTryAcquire::good, SemaphoreTryAcquire::bad);
    }
}
