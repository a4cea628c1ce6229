// Promise: CyclicBarrier: what comes before await happens-before the barrier action, and that before what follows
// await in every thread.
// Way: the barrier action adds up what the threads wrote.
// Bad twin: the barrier action starts a thread that goes on writing while the others read.
import java.util.concurrent.CyclicBarrier;

class BarrierAction {
    static class Cell {
        int value;
    }

    static int run(boolean late) throws Exception {
        Cell first = new Cell();
        Cell second = new Cell();
        Cell sum = new Cell();
        CyclicBarrier barrier = new CyclicBarrier(2, () -> {
            sum.value = first.value + second.value;
            if (late) {
                new Thread(() -> {
                    for (int round = 0; round < 5; round++) {
                        sum.value = 42;
                        Pair.pause();
                    }
                }).start();
            }
        });
        return Pair.together(() -> {
            first.value = 40;
            barrier.await();
        }, () -> {
            second.value = 2;
            barrier.await();
            return Pair.repeatRead(() -> sum.value);
        });
    }

    static int good() throws Exception {
        return run(false);
    }

    static int bad() throws Exception {
        return run(true);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, BarrierAction::good, BarrierAction::bad);
    }
}
