package programs;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Makes very many threads, virtual threads or events, and keeps nothing of them: whatever grows is not the program. */
public final class Soak {
    public static void main(String[] arguments) throws Exception {
        int amount = Integer.parseInt(arguments[1]);
        Measurement measurement = Measurement.begin();
        Shared shared = new Shared();
        switch (arguments[0]) {
            case "threads":
                many(amount, 500, shared, Soak::startThread);
                break;
            case "virtual-threads":
                many(amount, 5000, shared, Soak::startVirtualThread);
                break;
            case "rounds":
                rounds(amount, shared);
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
        measurement.end(shared.sum());
    }

    /** What all threads meet at. Each has seen what the one before it wrote, so nothing of this can be left out. */
    private static final class Shared {
        private long sum;
        private int visits;
        private Visitor last = new Visitor(0);

        synchronized void visit(Visitor visitor) {
            sum += visitor.number + (last.seen & 1);
            visits++;
            last.seen = 0;
            last = visitor;
        }

        synchronized long sum() {
            return sum + visits;
        }
    }

    /** A new object for each visit, handed over to another thread. */
    private static final class Visitor {
        private int number;
        private int seen;

        Visitor(int number) {
            this.number = number;
        }
    }

    /** How a thread is started. */
    private interface Starter {
        Thread start(Runnable task) throws ReflectiveOperationException;
    }

    private static Thread startThread(Runnable task) {
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    }

    private static Thread startVirtualThread(Runnable task) throws ReflectiveOperationException {
        try {
            return (Thread) StartVirtualThread.METHOD.invoke(null, task);
        } catch (InvocationTargetException exception) {
            throw new IllegalStateException(exception);
        }
    }

    /** Found by reflection, because the compiler may be older than virtual threads. */
    private static final class StartVirtualThread {
        private static final Method METHOD;

        static {
            try {
                METHOD = Thread.class.getMethod("startVirtualThread", Runnable.class);
            } catch (NoSuchMethodException exception) {
                throw new IllegalStateException(exception);
            }
        }
    }

    private static void many(int amount, int atOnce, Shared shared, Starter starter) throws Exception {
        List<Thread> alive = new ArrayList<>();
        for (int i = 0; i < amount; i++) {
            int number = i;
            alive.add(starter.start(() -> shared.visit(new Visitor(number))));
            if (alive.size() == atOnce) {
                joinAll(alive);
                sayMemory();
            }
        }
        joinAll(alive);
    }

    /** The resident set of this process in KiB, at the same points of the work in every run. */
    private static void sayMemory() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                System.out.println("resident " + line.replaceAll("[^0-9]", ""));
            }
        }
    }

    private static void rounds(int amount, Shared shared) throws Exception {
        // Threads come and go here as well: each has some of the rounds.
        int share = 250_000;
        for (int done = 0; done < amount; done += 2 * share) {
            Runnable[] tasks = new Runnable[2];
            for (int i = 0; i < tasks.length; i++) {
                int first = done + i * share;
                tasks[i] = () -> {
                    for (int number = first; number < first + share; number++) {
                        shared.visit(new Visitor(number));
                    }
                };
            }
            Measurement.runAll(tasks);
            sayMemory();
        }
    }

    private static void joinAll(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
        threads.clear();
    }
}
