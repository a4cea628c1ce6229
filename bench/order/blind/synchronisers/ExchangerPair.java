// Promise: Exchanger: actions before exchange happen-before those after the corresponding exchange in the other
// thread.
// Way: both threads exchange a cell that they have filled.
// Bad twin: the thread goes on writing the cell that it has given away.
import java.util.concurrent.Exchanger;

class ExchangerPair {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Exchanger<Cell> exchanger = new Exchanger<>();
        return Pair.together(() -> {
            Cell given = new Cell();
            given.value = 42;
            Cell got = exchanger.exchange(given);
            got.value = 7;
        }, () -> exchanger.exchange(new Cell()).value);
    }

    static int bad() throws Exception {
        Exchanger<Cell> exchanger = new Exchanger<>();
        return Pair.together(() -> {
            Cell given = new Cell();
            exchanger.exchange(given);
            Pair.repeat(() -> given.value = 42);
        }, () -> {
            Cell got = exchanger.exchange(new Cell());
            return Pair.repeatRead(() -> got.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ExchangerPair::good, ExchangerPair::bad);
    }
}
