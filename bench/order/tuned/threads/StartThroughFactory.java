// Promise: JLS 17.4.4: starting a thread happens-before its first action, whoever made the thread.
// Way: the thread comes from a ThreadFactory, used through the interface.
// Bad twin: the factory has already started the thread that it returns.
import java.util.concurrent.ThreadFactory;

class StartThroughFactory {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        ThreadFactory factory = body -> new Thread(body);
        Cell result = new Cell();
        Thread thread = factory.newThread(() -> result.value = cell.value);
        cell.value = 42;
        thread.start();
        thread.join();
        return result.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ThreadFactory factory = body -> {
            Thread made = new Thread(body);
            made.start();
            return made;
        };
        Cell result = new Cell();
        Thread thread = factory.newThread(() -> {
            for (int round = 0; round < 5; round++) {
                result.value = cell.value;
                Pair.pause();
            }
        });
        Pair.repeat(() -> cell.value = 42);
        thread.join();
        return result.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StartThroughFactory::good, StartThroughFactory::bad);
    }
}
