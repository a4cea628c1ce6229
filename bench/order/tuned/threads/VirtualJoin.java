// since 21
// Promise: JLS 17.4.5: all actions of a thread happen-before another thread returns from a join on it.
// Way: two virtual threads one after the other, joined by the main thread.
// Bad twin: both virtual threads run at the same time.
class VirtualJoin {
    static class Cell {
        int value;
    }

    static Thread adder(Cell cell) {
        return VirtualThreads.start(() -> {
            for (int round = 0; round < 7; round++) {
                cell.value += 3;
                Pair.pause();
            }
        });
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        adder(cell).join();
        adder(cell).join();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread first = adder(cell);
        Thread second = adder(cell);
        first.join();
        second.join();
        return cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VirtualJoin::good, VirtualJoin::bad);
    }
}
