// Promise: Semaphore: actions before release happen-before actions after a successful acquire in another thread.
// Way: a semaphore without permits; the writer releases one.
// Bad twin: the semaphore has the permit from the beginning, and the writer releases after its last write.
import java.util.concurrent.Semaphore;

class SemaphoreHandOver {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Semaphore permits = new Semaphore(0);
        return Pair.together(() -> {
            cell.value = 42;
            permits.release();
        }, () -> {
            permits.acquire();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Semaphore permits = new Semaphore(1);
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            permits.release();
        }, () -> {
            permits.acquire();
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SemaphoreHandOver::good, SemaphoreHandOver::bad);
    }
}
