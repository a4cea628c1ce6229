// Promise: JLS 17.4.4: starting a thread happens-before its first action; Method.invoke calls as the source would.
// Way: start and join are called by reflection.
// Bad twin: the reflective call is of a method that does not wait for the end.
class StartReflection {
    static class Cell {
        int value;
    }

    static Thread writer(Cell cell) {
        return new Thread(() -> {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Thread thread = writer(cell);
        Thread.class.getMethod("start").invoke(thread);
        Thread.class.getMethod("join").invoke(thread);
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Thread thread = writer(cell);
        Thread.class.getMethod("start").invoke(thread);
        Thread.class.getMethod("getName").invoke(thread);
        int seen = Pair.repeatRead(() -> cell.value);
        thread.join();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StartReflection::good, StartReflection::bad);
    }
}
