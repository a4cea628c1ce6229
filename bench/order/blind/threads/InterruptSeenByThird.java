// Promise: JLS 17.4.4: interrupting a thread happens-before any other thread finding it interrupted.
// Way: the reader asks for the status of a third thread that spins.
// Bad twin: the interrupted thread is another than the one that is asked.
class InterruptSeenByThird {
    static class Cell {
        int value;
    }

    static Thread spinning() {
        Thread thread = new Thread(() -> {
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < 1_000_000_000L) {
                Thread.onSpinWait();
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Thread third = spinning();
        return Pair.together(() -> {
            cell.value = 42;
            third.interrupt();
        }, () -> {
            Pair.until(() -> third.isInterrupted());
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread third = spinning();
        Thread unrelated = spinning();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            third.interrupt();
        }), () -> Pair.repeatRead(() -> unrelated.isInterrupted() ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InterruptSeenByThird::good, InterruptSeenByThird::bad);
    }
}
