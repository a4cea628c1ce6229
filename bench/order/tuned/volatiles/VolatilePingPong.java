// Promise: JLS 17.4.5: each volatile write happens-before each later read: two threads can take turns.
// Way: a volatile number says whose turn it is; both write the cell in their turns.
// Bad twin: the second thread does not wait for its turns.
class VolatilePingPong {
    static class Cell {
        int value;
    }

    static class Turns {
        volatile int turn;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Turns turns = new Turns();
        return Pair.together(() -> {
            for (int round = 0; round < 14; round++) {
                int own = 2 * round;
                Pair.until(() -> turns.turn == own);
                cell.value += 1;
                turns.turn = own + 1;
            }
        }, () -> {
            for (int round = 0; round < 14; round++) {
                int own = 2 * round + 1;
                Pair.until(() -> turns.turn == own);
                cell.value += 2;
                turns.turn = own + 1;
            }
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Turns turns = new Turns();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value += 1;
            turns.turn = 1;
        }), () -> Pair.repeatRead(() -> cell.value += 2));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatilePingPong::good, VolatilePingPong::bad);
    }
}
