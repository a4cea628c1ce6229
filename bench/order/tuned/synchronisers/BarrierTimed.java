// Promise: CyclicBarrier: await with a limit that returns normally is a successful await.
// Way: await with a limit.
// Bad twin: there are two barriers for one party each, which let everybody through.
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

class BarrierTimed {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        CyclicBarrier barrier = new CyclicBarrier(2);
        return Pair.together(() -> {
            cell.value = 42;
            barrier.await(8, TimeUnit.SECONDS);
        }, () -> {
            barrier.await(8, TimeUnit.SECONDS);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        CyclicBarrier one = new CyclicBarrier(1);
        CyclicBarrier other = new CyclicBarrier(1);
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            one.await(1, TimeUnit.SECONDS);
        }), () -> Pair.repeatRead(() -> {
            other.await(1, TimeUnit.SECONDS);
            return cell.value;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, BarrierTimed::good, BarrierTimed::bad);
    }
}
