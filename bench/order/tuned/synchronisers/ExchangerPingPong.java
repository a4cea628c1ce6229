// Promise: Exchanger: actions before exchange happen-before those after the corresponding exchange, in both
// directions and each time.
// Way: two cells change hands seven times; each thread adds to the one it holds.
// Bad twin: the threads exchange nothing but a word, and both add to one cell.
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;

class ExchangerPingPong {
    static class Cell {
        int value;
    }

    static void add(Cell cell, int amount) {
        cell.value += amount;
    }

    static int good() throws Exception {
        Exchanger<Cell> exchanger = new Exchanger<>();
        return Pair.together(() -> {
            Cell own = new Cell();
            for (int round = 0; round < 14; round++) {
                add(own, 3);
                own = exchanger.exchange(own, 8, TimeUnit.SECONDS);
            }
        }, () -> {
            Cell own = new Cell();
            for (int round = 0; round < 14; round++) {
                add(own, 3);
                own = exchanger.exchange(own, 8, TimeUnit.SECONDS);
            }
            return own.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Exchanger<String> exchanger = new Exchanger<>();
        return Pair.together(() -> {
            exchanger.exchange("begin");
            Pair.repeat(() -> add(cell, 1));
        }, () -> {
            exchanger.exchange("begin");
            Pair.repeat(() -> add(cell, 2));
            return cell.value;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ExchangerPingPong::good, ExchangerPingPong::bad);
    }
}
