// Promise: JLS 17.4.4 and 17.4.5: all actions of a thread happen-before another thread returns from a join on it.
// Way: direct.
// Bad twin: the cell is read before the join.
class JoinDirect {
    static class Cell {
        int value;
    }

    static Thread writer(Cell cell) {
        Thread thread = new Thread(() -> {
            for (int round = 0; round < 5; round++) {
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
        thread.join();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread thread = writer(cell);
        int seen = Pair.repeatRead(() -> cell.value);
        thread.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, JoinDirect::good, JoinDirect::bad);
    }
}
