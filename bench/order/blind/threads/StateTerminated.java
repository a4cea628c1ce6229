// Promise: JLS 17.4.4: the last action of a thread happens-before any action in another thread that detects that it
// has terminated.
// Way: Thread.getState returns TERMINATED.
// Bad twin: another state was seen.
class StateTerminated {
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
        Pair.until(() -> thread.getState() == Thread.State.TERMINATED);
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread thread = writer(cell);
        Pair.until(() -> thread.getState() != Thread.State.NEW);
        int seen = Pair.repeatRead(() -> cell.value);
        thread.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StateTerminated::good, StateTerminated::bad);
    }
}
