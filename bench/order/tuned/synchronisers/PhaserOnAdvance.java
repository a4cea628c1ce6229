// Promise: Phaser: actions before an arrive happen-before onAdvance, and onAdvance happens-before what follows the
// advance.
// Way: a subclass overrides onAdvance and computes there.
// Bad twin: onAdvance does not compute; the writer does after the advance.
import java.util.concurrent.Phaser;

class PhaserOnAdvance {
    static class Cell {
        int value;
    }

    static class Summing extends Phaser {
        final Cell input = new Cell();
        final Cell output = new Cell();

        Summing() {
            super(2);
        }

        @Override
        protected boolean onAdvance(int phase, int parties) {
            output.value = input.value + 2;
            return false;
        }
    }

    static int good() throws Exception {
        Summing phaser = new Summing();
        return Pair.together(() -> {
            phaser.input.value = 40;
            phaser.arriveAndAwaitAdvance();
        }, () -> {
            phaser.arriveAndAwaitAdvance();
            return phaser.output.value;
        });
    }

    static int bad() throws Exception {
        Phaser phaser = new Phaser(2);
        Cell output = new Cell();
        return Pair.together(() -> {
            phaser.arriveAndAwaitAdvance();
            Pair.repeat(() -> output.value = 42);
        }, () -> {
            phaser.arriveAndAwaitAdvance();
            return Pair.repeatRead(() -> output.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PhaserOnAdvance::good, PhaserOnAdvance::bad);
    }
}
