// Promise: JLS 17.4.4: the last action of a thread happens-before isAlive returning false in another thread.
// Way: isAlive is asked until it says false.
// Bad twin: isAlive is asked once, says true, and the cell is read all the same.
class IsAlive {
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
        Pair.until(() -> !thread.isAlive());
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread thread = writer(cell);
        boolean alive = thread.isAlive();
        int seen = Pair.repeatRead(() -> alive ? cell.value : 0);
        thread.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, IsAlive::good, IsAlive::bad);
    }
}
