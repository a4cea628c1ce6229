// Promise: Phaser: a tree of phasers advances as one; what comes before an arrive at any of them happens-before the
// advance.
// Way: each thread arrives at a child of one parent.
// Bad twin: the children have no parent.
import java.util.concurrent.Phaser;

class PhaserTree {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Phaser parent = new Phaser();
        Phaser left = new Phaser(parent, 1);
        Phaser right = new Phaser(parent, 1);
        return Pair.together(() -> {
            cell.value = 42;
            left.arriveAndAwaitAdvance();
        }, () -> {
            right.arriveAndAwaitAdvance();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Phaser left = new Phaser(1);
        Phaser right = new Phaser(1);
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            left.arriveAndAwaitAdvance();
        }), () -> Pair.repeatRead(() -> {
            right.arriveAndAwaitAdvance();
            return cell.value;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, PhaserTree::good, PhaserTree::bad);
    }
}
