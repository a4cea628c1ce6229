// Promise: Phaser: actions before arrive happen-before actions that follow the return of awaitAdvance for that
// phase.
// Way: the writer arrives, the reader, which is no party, awaits.
// Bad twin: the reader awaits a phase that is already over, which returns at once.
import java.util.concurrent.Phaser;

class PhaserAwaitAdvance {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Phaser phaser = new Phaser(1);
        return Pair.together(() -> {
            cell.value = 42;
            phaser.arrive();
        }, () -> {
            phaser.awaitAdvance(0);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Phaser phaser = new Phaser(1);
        phaser.arrive();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            phaser.arrive();
        }, () -> {
            phaser.awaitAdvance(0);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PhaserAwaitAdvance::good, PhaserAwaitAdvance::bad);
    }
}
