// Promise: CyclicBarrier: actions before await happen-before actions after the corresponding await of the others.
// Way: direct, several rounds.
// Bad twin: the writer writes after the barrier, not before.
import java.util.concurrent.CyclicBarrier;

class BarrierAwait {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CyclicBarrier barrier = new CyclicBarrier(2);
        return Pair.together(() -> {
            for (int round = 0; round < 4; round++) {
                cell.value = 39 + round;
                barrier.await();
                barrier.await();
            }
        }, () -> {
            int seen = 0;
            for (int round = 0; round < 4; round++) {
                barrier.await();
                seen = cell.value;
                barrier.await();
            }
            return seen;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CyclicBarrier barrier = new CyclicBarrier(2);
        return Pair.together(() -> {
            barrier.await();
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            barrier.await();
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, BarrierAwait::good, BarrierAwait::bad);
    }
}
