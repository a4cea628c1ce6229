// since 21
// Promise: JLS 17.4.4: starting a thread happens-before its first action, and its last before the return of join;
// virtual threads are threads.
// Way: Thread.startVirtualThread.
// Bad twin: the parent writes while the virtual thread reads.
class VirtualStart {
    static class Cell {
        int value;
    }

    static Thread reader(Cell cell, Cell result) {
        return VirtualThreads.start(() -> {
            for (int round = 0; round < 5; round++) {
                result.value = cell.value;
                Pair.pause();
            }
        });
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        cell.value = 42;
        reader(cell, result).join();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread thread = reader(cell, result);
        Pair.repeat(() -> cell.value = 42);
        thread.join();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VirtualStart::good, VirtualStart::bad);
    }
}
