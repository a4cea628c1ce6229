// Promise: JLS 17.4.4: volatile accesses are in one total order; Dekker's algorithm excludes with them alone.
// Way: an AtomicIntegerArray of wishes, and a volatile turn.
// Bad twin: the second thread's wish is not looked at by it itself: it goes in at once.
import java.util.concurrent.atomic.AtomicIntegerArray;

class DekkerLock {
    static class Cell {
        int value;
    }

    static class Dekker {
        final AtomicIntegerArray wants = new AtomicIntegerArray(2);
        volatile int turn;

        void lock(int own) throws Exception {
            int other = 1 - own;
            wants.set(own, 1);
            while (wants.get(other) == 1) {
                if (turn != own) {
                    wants.set(own, 0);
                    Pair.until(() -> turn == own);
                    wants.set(own, 1);
                }
                Thread.yield();
            }
        }

        void unlock(int own) {
            turn = 1 - own;
            wants.set(own, 0);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Dekker lock = new Dekker();
        Pair.together(() -> {
            for (int round = 0; round < 7; round++) {
                lock.lock(0);
                cell.value += 3;
                lock.unlock(0);
            }
        }, () -> {
            for (int round = 0; round < 7; round++) {
                lock.lock(1);
                cell.value += 3;
                lock.unlock(1);
            }
            return 0;
        });
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Dekker lock = new Dekker();
        return Pair.together(() -> Pair.repeat(() -> {
            lock.lock(0);
            cell.value += 3;
            lock.unlock(0);
        }), () -> Pair.repeatRead(() -> cell.value += 3));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, DekkerLock::good, DekkerLock::bad);
    }
}
