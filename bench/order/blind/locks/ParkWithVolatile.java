// Promise: LockSupport.park may return for no reason; the volatile flag that is read afterwards orders (JLS
// 17.4.5).
// Way: park in a loop over a volatile flag.
// Bad twin: there is no flag, and the parked thread is let go before the write.
import java.util.concurrent.locks.LockSupport;

class ParkWithVolatile {
    static class Cell {
        int value;
    }

    static class Flag {
        volatile boolean raised;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flag flag = new Flag();
        Cell result = new Cell();
        Thread reader = new Thread(() -> {
            while (!flag.raised) {
                LockSupport.park();
            }
            result.value = cell.value;
        });
        reader.start();
        cell.value = 42;
        flag.raised = true;
        LockSupport.unpark(reader);
        reader.join();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread reader = new Thread(() -> {
            for (int round = 0; round < 5; round++) {
                LockSupport.parkNanos(1_000_000L);
                result.value = cell.value;
                Pair.pause();
            }
        });
        reader.start();
        Pair.repeat(() -> {
            LockSupport.unpark(reader);
            cell.value = 42;
        });
        reader.join();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ParkWithVolatile::good, ParkWithVolatile::bad);
    }
}
