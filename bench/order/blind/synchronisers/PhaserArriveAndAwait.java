// Promise: Phaser: actions before any arrive method happen-before the phase's advance, and that before what follows
// it.
// Way: arriveAndAwaitAdvance on both sides.
// Bad twin: the cell is written after the advance.
import java.util.concurrent.Phaser;

class PhaserArriveAndAwait {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Phaser phaser = new Phaser(2);
        return Pair.together(() -> {
            cell.value = 42;
            phaser.arriveAndAwaitAdvance();
        }, () -> {
            phaser.arriveAndAwaitAdvance();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Phaser phaser = new Phaser(2);
        return Pair.together(() -> {
            phaser.arriveAndAwaitAdvance();
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            phaser.arriveAndAwaitAdvance();
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PhaserArriveAndAwait::good, PhaserArriveAndAwait::bad);
    }
}
