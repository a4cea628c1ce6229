// Promise: java.util.concurrent.atomic: setRelease and getAcquire have the effects of the VarHandle methods of
// these names.
// Way: AtomicBoolean.setRelease and getAcquire.
// Bad twin: setOpaque and getOpaque, which give no order with other variables.
import java.util.concurrent.atomic.AtomicBoolean;

class AtomicReleaseAcquire {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        AtomicBoolean flag = new AtomicBoolean();
        return Pair.together(() -> {
            cell.value = 42;
            flag.setRelease(true);
        }, () -> {
            Pair.until(flag::getAcquire);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        AtomicBoolean flag = new AtomicBoolean();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            flag.setOpaque(true);
        }, () -> {
            Pair.until(flag::getOpaque);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicReleaseAcquire::good, AtomicReleaseAcquire::bad);
    }
}
