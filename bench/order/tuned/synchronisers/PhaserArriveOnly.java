// Promise: Phaser: arriving happens-before the advance; without waiting for the advance there is nothing that comes
// after it.
// Way: the reader arrives and then awaits the advance of the phase it arrived in.
// Bad twin: both threads arrive, and nobody awaits: the phase does not advance, as a third party is missing.
import java.util.concurrent.Phaser;

class PhaserArriveOnly {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Phaser phaser = new Phaser(2);
        return Pair.together(() -> {
            cell.value = 42;
            phaser.arriveAndDeregister();
        }, () -> {
            phaser.awaitAdvance(phaser.arrive());
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Phaser phaser = new Phaser(100);
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            phaser.arrive();
        }), () -> Pair.repeatRead(() -> {
            phaser.arrive();
            return cell.value;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PhaserArriveOnly::good, PhaserArriveOnly::bad);
    }
}
