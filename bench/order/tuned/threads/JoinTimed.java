// Promise: JLS 17.4.4: the last action of a thread happens-before any action that detects its end; a timed join
// that finds it ended does so.
// Way: a loop of timed joins until the thread has ended.
// Bad twin: the time of the only join is over before the thread has ended.
class JoinTimed {
    static class Cell {
        int value;
    }

    static Thread writer(Cell cell) {
        Thread thread = new Thread(() -> {
            for (int round = 0; round < 8; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        thread.start();
        return thread;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Thread thread = writer(cell);
        while (thread.isAlive()) {
            thread.join(20);
        }
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread thread = writer(cell);
        thread.join(1);
        int seen = Pair.repeatRead(() -> cell.value);
        thread.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, JoinTimed::good, JoinTimed::bad);
    }
}
