// Promise: JLS 17.4.5: all actions of a thread happen-before another thread returns from a join on it.
// Way: two writers, one after the other, each joined before the next starts.
// Bad twin: both writers run at once.
class JoinSeveral {
    static class Cell {
        int value;
    }

    static Thread adder(Cell cell) {
        return new Thread(() -> {
            for (int round = 0; round < 7; round++) {
                cell.value += 3;
                Pair.pause();
            }
        });
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        for (int round = 0; round < 2; round++) {
            Thread thread = adder(cell);
            thread.start();
            thread.join();
        }
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread first = adder(cell);
        Thread second = adder(cell);
        first.start();
        second.start();
        first.join();
        second.join();
        return cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, JoinSeveral::good, JoinSeveral::bad);
    }
}
