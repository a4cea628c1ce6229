// Promise: JLS 17.4.4: starting a thread happens-before the first action of the started thread.
// Way: a lambda as the body.
// Bad twin: the parent writes after the start.
class StartLambda {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread reader = new Thread(() -> result.value = cell.value);
        cell.value = 42;
        reader.start();
        reader.join();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Cell result = new Cell();
        Thread reader = new Thread(() -> {
            for (int round = 0; round < 5; round++) {
                result.value = cell.value;
                Pair.pause();
            }
        });
        reader.start();
        Pair.repeat(() -> cell.value = 42);
        reader.join();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StartLambda::good, StartLambda::bad);
    }
}
