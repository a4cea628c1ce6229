// Promise: JLS 17.4.4: starting a thread happens-before the first action of the started thread.
// Way: a subclass of Thread that overrides run and reads a field of its own.
// Bad twin: the parent changes the field of the running thread.
class StartSubclass {
    static class Cell {
        int value;
    }

    static class Reader extends Thread {
        final Cell cell = new Cell();
        int seen;

        @Override
        public void run() {
            for (int round = 0; round < 5; round++) {
                seen = cell.value;
                Pair.pause();
            }
        }
    }

    static int good() throws Exception {
        Reader reader = new Reader();
        reader.cell.value = 42;
        reader.start();
        reader.join();
        return reader.seen;
    }

    static int bad() throws Exception {
        Reader reader = new Reader();
        reader.start();
        Pair.repeat(() -> reader.cell.value = 42);
        reader.join();
        return reader.seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StartSubclass::good, StartSubclass::bad);
    }
}
