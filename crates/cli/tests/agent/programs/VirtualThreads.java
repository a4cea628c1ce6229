package torture;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/** Virtual threads, by reflection, so that a compiler of any age will do. */
public class VirtualThreads {
    private final ReentrantLock lock = new ReentrantLock();
    private int underLock;
    private int underMonitor;
    private final ThreadLocal<Integer> local = ThreadLocal.withInitial(() -> 1);

    public static void main(String[] arguments) throws Exception {
        int many = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5_000;
        VirtualThreads shared = new VirtualThreads();
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            threads.add((Thread) start.invoke(null, (Runnable) shared::work));
            if (threads.size() == 1000) {
                joinAll(threads);
            }
        }
        joinAll(threads);
        System.out.println(shared.underLock + " " + shared.underMonitor);
        if (many > 100_000) {
            return;
        }
        Method pool = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        ExecutorService executor = (ExecutorService) pool.invoke(null);
        List<Future<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            int number = i;
            futures.add(executor.submit(() -> {
                Thread.sleep(1);
                synchronized (shared) {
                    shared.wait(1);
                }
                return number;
            }));
        }
        int sum = 0;
        for (Future<Integer> future : futures) {
            sum += future.get();
        }
        executor.shutdown();
        System.out.println(sum + " " + executor.isShutdown());
        Thread failing = (Thread) start.invoke(null, (Runnable) () -> {
            throw new IllegalStateException("virtual");
        });
        failing.join();
        System.out.println(failing.getState() + " " + failing.isDaemon());
    }

    private static void joinAll(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
        threads.clear();
    }

    private void work() {
        lock.lock();
        try {
            underLock += local.get();
            Thread.yield();
        } finally {
            lock.unlock();
        }
        synchronized (this) {
            underMonitor++;
        }
    }
}
