// Promise: JLS 17.2.1 with 17.4.5: a thread that returns from wait has locked the monitor again, after the
// notifier's unlock.
// Way: direct, wait in a loop over a condition that the monitor guards.
// Bad twin: the writer writes the cell after it has left the monitor, when the reader may already be awake.
class WaitNotify {
    static class Cell {
        int value;
    }

    static class Gate {
        boolean open;

        synchronized void open() {
            open = true;
            notifyAll();
        }

        synchronized void pass() throws InterruptedException {
            while (!open) {
                wait();
            }
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Gate gate = new Gate();
        return Pair.together(() -> {
            cell.value = 42;
            gate.open();
        }, () -> {
            gate.pass();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Gate gate = new Gate();
        return Pair.together(() -> {
            gate.open();
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            gate.pass();
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, WaitNotify::good, WaitNotify::bad);
    }
}
