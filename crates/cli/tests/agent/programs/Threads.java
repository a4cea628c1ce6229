package torture;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Threads and everything that orders them; what is printed does not depend on how they interleave. */
public class Threads {
    private static final int MANY = 2000;
    private int count;
    private volatile int flag;
    private static int total;

    public static void main(String[] arguments) throws Exception {
        startAndJoin();
        pingPong();
        failingMonitors();
        interrupts();
        executors();
        futures();
        locks();
        barriers();
        atomics();
        threadLocals();
        timers();
        parallelStreams();
        uncaught();
        manyThreads();
        System.out.println("main group " + Thread.activeCount() + " total " + total);
    }

    synchronized void increment() {
        count++;
    }

    static synchronized void add(int amount) {
        total += amount;
    }

    static void startAndJoin() throws Exception {
        Threads shared = new Threads();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread("adder-" + i) {
                @Override
                public void run() {
                    for (int j = 0; j < MANY; j++) {
                        shared.increment();
                        add(1);
                    }
                }
            };
            System.out.println(thread.getName() + " " + thread.getState() + " " + thread.isDaemon());
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
            System.out.println(thread.getState() + " " + thread.isAlive());
        }
        System.out.println(shared.count + " " + total);
        try {
            threads.get(0).start();
        } catch (IllegalThreadStateException exception) {
            System.out.println(exception);
        }
    }

    static class Channel {
        private final ArrayDeque<Integer> items = new ArrayDeque<>();

        synchronized void put(int item) throws InterruptedException {
            while (items.size() == 2) {
                wait();
            }
            items.add(item);
            notifyAll();
        }

        synchronized int take() throws InterruptedException {
            while (items.isEmpty()) {
                wait(1000);
            }
            notifyAll();
            return items.remove();
        }
    }

    static void pingPong() throws Exception {
        Channel there = new Channel();
        Channel back = new Channel();
        Thread echo = new Thread(() -> {
            try {
                for (int item = there.take(); item >= 0; item = there.take()) {
                    back.put(item * 2);
                }
            } catch (InterruptedException exception) {
                throw new IllegalStateException(exception);
            }
        });
        echo.start();
        long sum = 0;
        for (int i = 0; i < MANY; i++) {
            there.put(i);
            sum += back.take();
        }
        there.put(-1);
        echo.join();
        System.out.println("echo " + sum);
    }

    synchronized void failing(int depth) {
        count++;
        if (depth == 0) {
            throw new IllegalStateException("deep inside");
        }
        synchronized (Threads.class) {
            failing(depth - 1);
        }
    }

    static void failingMonitors() throws Exception {
        Threads shared = new Threads();
        Runnable work = () -> {
            for (int i = 0; i < 200; i++) {
                try {
                    shared.failing(5);
                } catch (IllegalStateException exception) {
                    if (Thread.holdsLock(shared) || Thread.holdsLock(Threads.class)) {
                        System.out.println("still held");
                    }
                }
            }
        };
        Thread other = new Thread(work);
        other.start();
        work.run();
        other.join();
        System.out.println("failing " + shared.count);
        try {
            shared.wait();
        } catch (IllegalMonitorStateException exception) {
            System.out.println(exception);
        }
        try {
            shared.notifyAll();
        } catch (IllegalMonitorStateException exception) {
            System.out.println(exception);
        }
    }

    static void interrupts() throws Exception {
        Object lock = new Object();
        CountDownLatch ready = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                ready.countDown();
                try {
                    lock.wait();
                    System.out.println("woken?");
                } catch (InterruptedException exception) {
                    System.out.println("interrupted " + Thread.currentThread().isInterrupted() + Thread.holdsLock(lock));
                }
            }
        });
        waiter.start();
        ready.await();
        waiter.interrupt();
        waiter.join();
        Thread.currentThread().interrupt();
        System.out.println(Thread.interrupted() + " " + Thread.interrupted());
        LockSupport.unpark(Thread.currentThread());
        LockSupport.park();
    }

    static void executors() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            int number = i;
            tasks.add(() -> number * number);
        }
        int sum = 0;
        for (Future<Integer> future : pool.invokeAll(tasks)) {
            sum += future.get();
        }
        Future<?> failing = pool.submit(() -> {
            throw new IllegalStateException("task");
        });
        try {
            failing.get();
        } catch (ExecutionException exception) {
            System.out.println(exception.getMessage() + " " + exception.getCause().getStackTrace()[0].getMethodName());
        }
        System.out.println(sum + " " + pool.invokeAny(Collections.singletonList(() -> "any")));
        pool.shutdown();
        System.out.println(pool.awaitTermination(10, TimeUnit.SECONDS));
        ScheduledExecutorService scheduled = Executors.newSingleThreadScheduledExecutor();
        System.out.println(scheduled.schedule(() -> "later", 1, TimeUnit.MILLISECONDS).get());
        scheduled.shutdownNow();
    }

    static class Sum extends RecursiveTask<Long> {
        private final int from;
        private final int to;
        private long result;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from < 100) {
                for (int i = from; i < to; i++) {
                    result += i;
                }
                return result;
            }
            int middle = (from + to) / 2;
            Sum left = new Sum(from, middle);
            Sum right = new Sum(middle, to);
            left.fork();
            return right.compute() + left.join();
        }
    }

    static void futures() throws Exception {
        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> 20);
        CompletableFuture<Integer> second = first.thenApplyAsync(value -> value + 1).thenCombine(first, Integer::sum);
        System.out.println(second.get() + " " + second.handle((value, error) -> value * 2).join());
        CompletableFuture<Object> failed = first.thenApply(value -> {
            throw new IllegalStateException("stage");
        });
        System.out.println(failed.exceptionally(Throwable::toString).get());
        System.out.println(ForkJoinPool.commonPool().invoke(new Sum(0, 10_000)));
    }

    static void locks() throws Exception {
        ReentrantLock lock = new ReentrantLock(true);
        Condition changed = lock.newCondition();
        int[] turn = {0};
        Thread[] threads = new Thread[3];
        StringBuilder order = new StringBuilder();
        for (int i = 0; i < threads.length; i++) {
            int mine = i;
            threads[i] = new Thread(() -> {
                for (int round = 0; round < 5; round++) {
                    lock.lock();
                    try {
                        while (turn[0] % 3 != mine) {
                            changed.awaitUninterruptibly();
                        }
                        order.append(mine);
                        turn[0]++;
                        changed.signalAll();
                    } finally {
                        lock.unlock();
                    }
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        ReadWriteLock readWrite = new ReentrantReadWriteLock();
        readWrite.writeLock().lock();
        readWrite.readLock().lock();
        readWrite.writeLock().unlock();
        System.out.println(order + " " + readWrite.writeLock().tryLock() + " " + lock.tryLock());
        readWrite.readLock().unlock();
        StampedLock stamped = new StampedLock();
        long stamp = stamped.tryOptimisticRead();
        System.out.println(stamped.validate(stamp) + " " + (stamped.tryConvertToWriteLock(stamp) != 0) + stamped.validate(stamp));
        try {
            readWrite.readLock().unlock();
        } catch (IllegalMonitorStateException exception) {
            System.out.println(exception);
        }
    }

    static void barriers() throws Exception {
        int parties = 3;
        AtomicInteger trips = new AtomicInteger();
        CyclicBarrier barrier = new CyclicBarrier(parties, trips::incrementAndGet);
        Phaser phaser = new Phaser(parties);
        Semaphore semaphore = new Semaphore(1);
        Exchanger<String> exchanger = new Exchanger<>();
        Threads shared = new Threads();
        CountDownLatch done = new CountDownLatch(parties);
        ConcurrentSkipListSet<String> exchanged = new ConcurrentSkipListSet<>();
        for (int i = 0; i < parties; i++) {
            int number = i;
            new Thread(() -> {
                try {
                    for (int round = 0; round < 20; round++) {
                        barrier.await();
                        semaphore.acquire();
                        shared.count++;
                        semaphore.release();
                        phaser.arriveAndAwaitAdvance();
                    }
                    if (number < 2) {
                        exchanged.add(number + exchanger.exchange("from" + number));
                    }
                } catch (Exception exception) {
                    exception.printStackTrace();
                }
                done.countDown();
            }).start();
        }
        done.await();
        System.out.println(trips + " " + shared.count + " " + phaser.getPhase() + " " + exchanged);
    }

    static void atomics() throws Exception {
        AtomicLong sum = new AtomicLong();
        LongAdder adder = new LongAdder();
        AtomicIntegerFieldUpdater<Threads> updater = AtomicIntegerFieldUpdater.newUpdater(Threads.class, "flag");
        VarHandle handle = MethodHandles.lookup().findVarHandle(Threads.class, "count", int.class);
        VarHandle elements = MethodHandles.arrayElementVarHandle(int[].class);
        int[] array = new int[4];
        Threads shared = new Threads();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int index = i;
            threads[i] = new Thread(() -> {
                for (int j = 0; j < MANY; j++) {
                    sum.addAndGet(j);
                    adder.increment();
                    updater.incrementAndGet(shared);
                    int unused = (int) handle.getAndAdd(shared, 1);
                    elements.setVolatile(array, index, j);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(sum + " " + adder + " " + shared.flag + " " + shared.count + " " + IntStream.of(array).sum());
    }

    static void threadLocals() throws Exception {
        ThreadLocal<StringBuilder> local = ThreadLocal.withInitial(() -> new StringBuilder("fresh"));
        InheritableThreadLocal<String> inherited = new InheritableThreadLocal<>();
        inherited.set("parent");
        local.get().append(" main");
        String[] seen = new String[1];
        Thread thread = new Thread(() -> seen[0] = local.get() + " " + inherited.get());
        thread.start();
        thread.join();
        System.out.println(local.get() + ", " + seen[0]);
    }

    static void timers() throws Exception {
        Timer timer = new Timer("ticker", true);
        CountDownLatch ticks = new CountDownLatch(3);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                ticks.countDown();
            }
        }, 0, 1);
        System.out.println("ticked " + ticks.await(10, TimeUnit.SECONDS));
        timer.cancel();
    }

    static void parallelStreams() {
        Threads shared = new Threads();
        IntStream.range(0, MANY).parallel().forEach(i -> shared.increment());
        System.out.println(shared.count + " " + LongStream.range(0, MANY).parallel().map(i -> i * i).sum());
    }

    static void uncaught() throws Exception {
        Thread handled = new Thread(() -> {
            throw new IllegalStateException("handled");
        }, "handled");
        handled.setUncaughtExceptionHandler((thread, error) -> System.out.println(thread.getName() + " " + error));
        handled.start();
        handled.join();
        Thread printed = new Thread(() -> {
            throw new IllegalStateException("printed");
        }, "printed");
        printed.start();
        printed.join();
    }

    static void manyThreads() throws Exception {
        for (int i = 0; i < 20; i++) {
            Thread[] threads = new Thread[25];
            for (int j = 0; j < threads.length; j++) {
                threads[j] = new Thread(() -> add(1));
                threads[j].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }
}
