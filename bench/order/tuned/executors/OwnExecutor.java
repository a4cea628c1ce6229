// Promise: Executor: every implementation must order the submission before the execution; this one does by starting
// a thread (JLS 17.4.4).
// Way: an Executor of one's own, as a method reference to a static method.
// Bad twin: the executor's thread was started long before, and looks for its task in a way that gives no order.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;

class OwnExecutor {
    static class Cell {
        int value;
    }

    static void inNewThread(Runnable task) {
        new Thread(task).start();
    }

    static class OpaqueExecutor implements Executor {
        private final AtomicReference<Runnable> next = new AtomicReference<>();

        OpaqueExecutor() {
            Thread thread = new Thread(() -> {
                Runnable task = next.getOpaque();
                while (task == null) {
                    Thread.yield();
                    task = next.getOpaque();
                }
                task.run();
            });
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void execute(Runnable task) {
            next.setOpaque(task);
        }
    }

    static int run(Executor executor, Cell cell) throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        Cell result = new Cell();
        cell.value = 42;
        executor.execute(() -> {
            for (int round = 0; round < 5; round++) {
                result.value = cell.value;
                Pair.pause();
            }
            done.countDown();
        });
        done.await();
        return result.value;
    }

    static int good() throws Exception {
        return run(OwnExecutor::inNewThread, new Cell());
    }

    static int bad() throws Exception {
        Executor executor = new OpaqueExecutor();
        Pair.pause();
        return run(executor, new Cell());
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, OwnExecutor::good, OwnExecutor::bad);
    }
}
