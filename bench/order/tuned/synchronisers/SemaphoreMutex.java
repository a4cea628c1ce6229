// Promise: Semaphore: actions before release happen-before actions after a successful acquire in another thread.
// Way: a semaphore of one permit as a lock.
// Bad twin: the semaphore has two permits: both threads are inside at once.
import java.util.concurrent.Semaphore;

class SemaphoreMutex {
    static class Cell {
        int value;
    }

    static int run(int count) throws Exception {
        Cell cell = new Cell();
        Semaphore permits = new Semaphore(count);
        Pair.together(() -> add(cell, permits), () -> {
            add(cell, permits);
            return 0;
        });
        return cell.value;
    }

    static void add(Cell cell, Semaphore permits) throws Exception {
        permits.acquire();
        for (int round = 0; round < 7; round++) {
            cell.value += 3;
            Pair.pause();
        }
        permits.release();
    }

    static int good() throws Exception {
        return run(1);
    }

    static int bad() throws Exception {
        return run(2);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SemaphoreMutex::good, SemaphoreMutex::bad);
    }
}
