// Promise: JLS 17.4.4: interrupting a thread happens-before any point where it is found interrupted, such as an
// InterruptedException.
// Way: the interrupt ends a sleep.
// Bad twin: the interrupter writes after the interrupt.
class InterruptSleep {
    static class Cell {
        int value;
    }

    static class Reader extends Thread {
        final Cell cell = new Cell();
        int seen;

        @Override
        public void run() {
            try {
                Thread.sleep(5_000);
            } catch (InterruptedException expected) {
                for (int round = 0; round < 5; round++) {
                    seen = cell.value;
                    Pair.pause();
                }
            }
        }
    }

    static int good() throws Exception {
        Reader reader = new Reader();
        reader.start();
        reader.cell.value = 42;
        reader.interrupt();
        reader.join();
        return reader.seen;
    }

    static int bad() throws Exception {
        Reader reader = new Reader();
        reader.start();
        reader.interrupt();
        Pair.repeat(() -> reader.cell.value = 42);
        reader.join();
        return reader.seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InterruptSleep::good, InterruptSleep::bad);
    }
}
