// Promise: JLS 17.4.4: volatile accesses are in one total order that all threads agree on; Peterson's algorithm
// excludes with them alone.
// Way: two volatile flags and a volatile turn.
// Bad twin: the reader enters without asking.
class PetersonLock {
    static class Cell {
        int value;
    }

    static class Peterson {
        volatile boolean firstWants;
        volatile boolean secondWants;
        volatile int turn;

        void lockFirst() throws Exception {
            firstWants = true;
            turn = 2;
            Pair.until(() -> !secondWants || turn == 1);
        }

        void lockSecond() throws Exception {
            secondWants = true;
            turn = 1;
            Pair.until(() -> !firstWants || turn == 2);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Peterson lock = new Peterson();
        Pair.together(() -> {
            for (int round = 0; round < 7; round++) {
                lock.lockFirst();
                cell.value += 3;
                lock.firstWants = false;
            }
        }, () -> {
            for (int round = 0; round < 7; round++) {
                lock.lockSecond();
                cell.value += 3;
                lock.secondWants = false;
            }
            return 0;
        });
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Peterson lock = new Peterson();
        return Pair.together(() -> Pair.repeat(() -> {
            lock.lockFirst();
            cell.value += 3;
            lock.firstWants = false;
        }), () -> Pair.repeatRead(() -> cell.value += 3));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PetersonLock::good, PetersonLock::bad);
    }
}
