package torture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.LinkedHashMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import java.util.stream.IntStream;

/**
 * Each way to wait in vain, and its twin, which waits for long and goes on. The first argument says which of both, the others which
 * kinds; without any, all those for which {@code ALONE} says that they need no JVM of their own.
 */
public class Kinds {
    private static final int LONG = 2_500;
    private static final int SHORT = 100;
    private static volatile int length = LONG;

    private interface Body {
        void run() throws Exception;
    }

    /** A kind: it is run in a thread of its own, and begins others whose names begin with that of the kind. */
    private interface Kind {
        void run(String name, boolean isBad) throws Exception;
    }

    private static final Map<String, Kind> KINDS = new LinkedHashMap<>();
    private static final Map<String, Kind> ALONE = new LinkedHashMap<>();

    static {
        KINDS.put("monitors", Kinds::monitors);
        KINDS.put("locks", Kinds::locks);
        KINDS.put("mixed", Kinds::mixed);
        KINDS.put("three", Kinds::three);
        KINDS.put("upgrade", Kinds::upgrade);
        KINDS.put("readers", Kinds::readers);
        KINDS.put("stamped", Kinds::stamped);
        KINDS.put("join", Kinds::join);
        KINDS.put("get", Kinds::get);
        KINDS.put("get-under-lock", Kinds::getUnderLock);
        KINDS.put("initialisers", Kinds::initialisers);
        KINDS.put("pool", (name, isBad) -> pool(name, isBad, 1));
        KINDS.put("pool-of-three", (name, isBad) -> pool(name, isBad, 3));
        KINDS.put("pool-of-stages", Kinds::poolOfStages);
        KINDS.put("two-pools", Kinds::twoPools);
        KINDS.put("pool-and-lock", Kinds::poolAndLock);
        KINDS.put("thousands", Kinds::thousands);
        ALONE.put("stages", Kinds::stages);
        ALONE.put("latch", Kinds::latch);
        ALONE.put("barrier", Kinds::barrier);
        ALONE.put("phaser", Kinds::phaser);
        ALONE.put("semaphore", Kinds::semaphore);
        ALONE.put("exchanger", Kinds::exchanger);
        ALONE.put("take", Kinds::take);
        ALONE.put("put", Kinds::put);
        ALONE.put("lockout", Kinds::lockout);
        ALONE.put("lockout-of-condition", Kinds::lockoutOfCondition);
        ALONE.put("notification", Kinds::notification);
        ALONE.put("signal", Kinds::signal);
        ALONE.put("park", Kinds::park);
        ALONE.put("abandoned", Kinds::abandoned);
        ALONE.put("parallel-initialiser", Kinds::parallelInitialiser);
        if (Runtime.version().feature() >= 21) {
            KINDS.put("virtual-locks", Kinds::virtualLocks);
            KINDS.put("virtual-monitor", Kinds::virtualMonitor);
            KINDS.put("virtual-join", Kinds::virtualJoin);
        }
        if (Runtime.version().feature() == 21) {
            ALONE.put("pinned", Kinds::pinned);
        }
    }

    public static void main(String[] arguments) throws Exception {
        boolean isBad = arguments[0].equals("bad");
        length = isBad ? SHORT : LONG;
        List<String> names = new ArrayList<>(Arrays.asList(arguments).subList(1, arguments.length));
        boolean areAll = names.isEmpty();
        if (areAll) {
            names.addAll(KINDS.keySet());
            if (!isBad) {
                names.addAll(ALONE.keySet());
            }
        }
        List<Thread> threads = new ArrayList<>();
        System.out.println("begins " + System.currentTimeMillis());
        for (String name : names) {
            Kind kind = KINDS.getOrDefault(name, ALONE.get(name));
            threads.add(begin(name, () -> kind.run(name, isBad)));
        }
        if (areAll && isBad) {
            // The watchdog has this time for all of them.
            Thread.sleep(6 * LONG);
            System.out.println("kinds " + String.join(" ", names));
            Runtime.getRuntime().halt(0);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("ended");
    }

    private static Thread begin(String name, Body body) {
        Thread thread = new Thread(() -> run(body), name);
        thread.start();
        return thread;
    }

    private static void run(Body body) {
        try {
            body.run();
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static void joinAll(Thread... threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static ThreadFactory named(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** The good twin's threads wait for this long. */
    private static void work() throws InterruptedException {
        Thread.sleep(length);
    }

    // ------------------------------------------------------------------ cycles of locks

    /** The one takes two locks; the other one too, in the other order if it is bad. */
    private static void monitors(String name, boolean isBad) throws Exception {
        Object left = new Object();
        Object right = new Object();
        CountDownLatch both = new CountDownLatch(isBad ? 2 : 1);
        Thread one = begin(name + "-1", () -> nest(left, right, both));
        Thread other = begin(name + "-2", () -> nest(isBad ? right : left, isBad ? left : right, both));
        joinAll(one, other);
    }

    private static void nest(Object outer, Object inner, CountDownLatch both) throws InterruptedException {
        synchronized (outer) {
            both.countDown();
            both.await();
            synchronized (inner) {
                work();
            }
        }
    }

    private static void nest(ReentrantLock outer, ReentrantLock inner, CountDownLatch both) throws InterruptedException {
        outer.lock();
        try {
            both.countDown();
            both.await();
            inner.lock();
            try {
                work();
            } finally {
                inner.unlock();
            }
        } finally {
            outer.unlock();
        }
    }

    private static void locks(String name, boolean isBad) throws Exception {
        ReentrantLock left = new ReentrantLock();
        ReentrantLock right = new ReentrantLock(true);
        CountDownLatch both = new CountDownLatch(isBad ? 2 : 1);
        Thread one = begin(name + "-1", () -> nest(left, right, both));
        Thread other = begin(name + "-2", () -> nest(isBad ? right : left, isBad ? left : right, both));
        joinAll(one, other);
    }

    private static void mixed(String name, boolean isBad) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Object monitor = new Object();
        CountDownLatch both = new CountDownLatch(isBad ? 2 : 1);
        Body lockFirst = () -> {
            lock.lock();
            both.countDown();
            both.await();
            synchronized (monitor) {
                work();
            }
            lock.unlock();
        };
        Thread one = begin(name + "-1", lockFirst);
        Thread other = begin(name + "-2", !isBad ? lockFirst : () -> {
            synchronized (monitor) {
                both.countDown();
                both.await();
                lock.lock();
                lock.unlock();
            }
        });
        joinAll(one, other);
    }

    private static void three(String name, boolean isBad) throws Exception {
        Object[] forks = {new Object(), new Object(), new Object()};
        CountDownLatch all = new CountDownLatch(isBad ? 3 : 2);
        Thread first = begin(name + "-1", () -> nest(forks[0], forks[1], all));
        Thread second = begin(name + "-2", () -> nest(forks[1], forks[2], all));
        Thread third = begin(name + "-3", () -> nest(forks[isBad ? 2 : 0], forks[isBad ? 0 : 2], all));
        joinAll(first, second, third);
    }

    private static void upgrade(String name, boolean isBad) throws Exception {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        Thread reader = begin(name + "-1", () -> {
            lock.readLock().lock();
            if (!isBad) {
                work();
                lock.readLock().unlock();
            }
            lock.writeLock().lock();
            lock.writeLock().unlock();
        });
        joinAll(reader);
    }

    /** Both read one and want to write the other. */
    private static void readers(String name, boolean isBad) throws Exception {
        ReentrantReadWriteLock left = new ReentrantReadWriteLock();
        ReentrantReadWriteLock right = new ReentrantReadWriteLock();
        CountDownLatch both = new CountDownLatch(2);
        Thread one = begin(name + "-1", () -> readThen(left, right, isBad, both));
        Thread other = begin(name + "-2", () -> readThen(right, left, isBad, both));
        joinAll(one, other);
    }

    private static void readThen(ReentrantReadWriteLock outer, ReentrantReadWriteLock inner, boolean writes, CountDownLatch both)
        throws InterruptedException {
        outer.readLock().lock();
        both.countDown();
        both.await();
        java.util.concurrent.locks.Lock lock = writes ? inner.writeLock() : inner.readLock();
        lock.lock();
        work();
        lock.unlock();
        outer.readLock().unlock();
    }

    private static void stamped(String name, boolean isBad) throws Exception {
        StampedLock lock = new StampedLock();
        Thread twice = begin(name + "-1", () -> {
            long first = isBad ? lock.writeLock() : lock.readLock();
            long second = lock.readLock();
            work();
            lock.unlock(second);
            lock.unlock(first);
        });
        joinAll(twice);
    }

    // ------------------------------------------------------------------ ends and results

    private static void join(String name, boolean isBad) throws Exception {
        Object lock = new Object();
        Thread worker;
        Thread[] own = new Thread[1];
        synchronized (lock) {
            worker = begin(name + "-1", () -> {
                work();
                synchronized (lock) {
                    own[0] = null;
                }
            });
            if (isBad) {
                worker.join();
            }
        }
        worker.join();
    }

    private static void get(String name, boolean isBad) throws Exception {
        List<FutureTask<Integer>> tasks = new ArrayList<>();
        CountDownLatch made = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            int other = 1 - i;
            tasks.add(new FutureTask<>(() -> {
                made.await();
                work();
                return isBad || other == 1 ? tasks.get(other).get() : Integer.valueOf(1);
            }));
        }
        Thread one = begin(name + "-1", tasks.get(0)::run);
        Thread other = begin(name + "-2", tasks.get(1)::run);
        made.countDown();
        joinAll(one, other);
    }

    private static void getUnderLock(String name, boolean isBad) throws Exception {
        Object lock = new Object();
        CountDownLatch held = new CountDownLatch(1);
        FutureTask<Integer> task = new FutureTask<>(() -> {
            if (isBad) {
                held.await();
            }
            work();
            synchronized (lock) {
                return 1;
            }
        });
        Thread worker = begin(name + "-1", task::run);
        Thread asker = begin(name + "-2", () -> {
            if (!isBad) {
                task.get();
            }
            synchronized (lock) {
                held.countDown();
                task.get();
            }
        });
        joinAll(worker, asker);
    }

    private static void stages(String name, boolean isBad) throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool(named(name + "-1"));
        List<CompletableFuture<Integer>> stages = new ArrayList<>();
        CountDownLatch made = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            int other = 1 - i;
            stages.add(CompletableFuture.supplyAsync(() -> {
                run(made::await);
                run(Kinds::work);
                return isBad || other == 1 ? stages.get(other).join() : Integer.valueOf(1);
            }, pool));
        }
        made.countDown();
        stages.get(0).join();
        pool.shutdown();
    }

    // ------------------------------------------------------------------ classes

    private static void initialisers(String name, boolean isBad) throws Exception {
        Meeting.isBad = isBad;
        Meeting.both = new CountDownLatch(isBad ? 2 : 1);
        Thread one = begin(name + "-1", () -> System.out.println(OneValue.value));
        Thread other = begin(name + "-2", () -> System.out.println(isBad ? OtherValue.value : OneValue.value));
        joinAll(one, other);
    }

    private static class Meeting {
        static volatile CountDownLatch both;
        static volatile boolean isBad;

        static void come() {
            both.countDown();
            Kinds.run(both::await);
            Kinds.run(Kinds::work);
        }
    }

    private static class OneValue {
        static final int value;

        static {
            Meeting.come();
            value = OtherValue.value + 1;
        }
    }

    private static class OtherValue {
        static final int value;

        static {
            Meeting.come();
            value = Meeting.isBad ? OneValue.value + 1 : 1;
        }
    }

    /** The callbacks of the stream are methods of the class that is not initialised yet. */
    private static void parallelInitialiser(String name, boolean isBad) throws Exception {
        Tables.isParallel = isBad;
        System.out.println(Table.sizes.length);
    }

    private static class Tables {
        static volatile boolean isParallel;
    }

    private static class Table {
        static final int[] sizes;

        static {
            IntStream all = IntStream.range(0, 100_000);
            sizes = (Tables.isParallel ? all.parallel() : all).map(it -> it * it).toArray();
            Kinds.run(Kinds::work);
        }
    }

    // ------------------------------------------------------------------ pools

    private static void pool(String name, boolean isBad, int size) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(isBad ? size : size + 1, named(name + "-1"));
        CountDownLatch begun = new CountDownLatch(size);
        List<java.util.concurrent.Future<Integer>> outer = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            outer.add(pool.submit(() -> {
                begun.countDown();
                begun.await();
                return pool.submit(() -> {
                    work();
                    return 1;
                }).get();
            }));
        }
        for (java.util.concurrent.Future<Integer> one : outer) {
            one.get();
        }
        pool.shutdown();
    }

    private static void poolOfStages(String name, boolean isBad) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(isBad ? 1 : 2, named(name + "-1"));
        CompletableFuture.supplyAsync(() -> CompletableFuture.supplyAsync(() -> {
            run(Kinds::work);
            return 1;
        }, pool).join(), pool).join();
        pool.shutdown();
    }

    private static void twoPools(String name, boolean isBad) throws Exception {
        ExecutorService one = Executors.newSingleThreadExecutor(named(name + "-1"));
        ExecutorService other = Executors.newFixedThreadPool(isBad ? 1 : 2, named(name + "-2"));
        CyclicBarrier both = new CyclicBarrier(2);
        java.util.concurrent.Future<Integer> first = one.submit(() -> {
            both.await();
            return other.submit(() -> 1).get();
        });
        java.util.concurrent.Future<Integer> second = other.submit(() -> {
            both.await();
            work();
            return one.submit(() -> 1).get();
        });
        first.get();
        second.get();
        one.shutdown();
        other.shutdown();
    }

    /** The task is queued behind one that needs the lock which is held while waiting for it. */
    private static void poolAndLock(String name, boolean isBad) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor(named(name + "-1"));
        Object lock = new Object();
        CountDownLatch begun = new CountDownLatch(1);
        pool.submit(() -> {
            run(begun::await);
            synchronized (lock) {
                run(Kinds::work);
            }
        });
        java.util.concurrent.Future<Integer> second = pool.submit(() -> 2);
        if (!isBad) {
            begun.countDown();
            second.get();
        }
        synchronized (lock) {
            begun.countDown();
            second.get();
        }
        pool.shutdown();
    }

    // ------------------------------------------------------------------ many threads

    private static void thousands(String name, boolean isBad) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> idle = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            Thread waiter = new Thread(null, () -> run(end::await), "idle", 1 << 17);
            waiter.setDaemon(true);
            waiter.start();
            idle.add(waiter);
        }
        monitors(name, isBad);
        end.countDown();
        joinAll(idle.toArray(new Thread[0]));
    }

    private static Thread beginVirtual(String name, Body body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        builder = type.getMethod("name", String.class).invoke(builder, name);
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, (Runnable) () -> run(body));
    }

    private static void virtualLocks(String name, boolean isBad) throws Exception {
        ReentrantLock left = new ReentrantLock();
        ReentrantLock right = new ReentrantLock();
        CountDownLatch both = new CountDownLatch(isBad ? 2 : 1);
        Thread one = beginVirtual(name + "-1", () -> nest(left, right, both));
        Thread other = beginVirtual(name + "-2", () -> nest(isBad ? right : left, isBad ? left : right, both));
        joinAll(one, other);
    }

    /** A virtual thread that waits in {@code synchronized} keeps its carrier in Java 21, so that there is only one. */
    private static void virtualMonitor(String name, boolean isBad) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Object monitor = new Object();
        CountDownLatch both = new CountDownLatch(2);
        Thread one = beginVirtual(name + "-1", () -> {
            lock.lock();
            both.countDown();
            both.await();
            synchronized (monitor) {
                lock.unlock();
            }
        });
        Thread other = begin(name + "-2", () -> {
            synchronized (monitor) {
                both.countDown();
                both.await();
                work();
                if (isBad) {
                    lock.lock();
                }
            }
        });
        joinAll(one, other);
    }

    private static void virtualJoin(String name, boolean isBad) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        Thread worker = beginVirtual(name + "-1", () -> {
            lock.lock();
            lock.unlock();
        });
        if (!isBad) {
            work();
            lock.unlock();
        }
        worker.join();
    }

    private static void pinned(String name, boolean isBad) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        int carriers = Runtime.getRuntime().availableProcessors();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < (isBad ? carriers : carriers - 1); i++) {
            Object own = new Object();
            all.add(beginVirtual(name + "-1", () -> {
                synchronized (own) {
                    go.await();
                }
            }));
        }
        Thread.sleep(300);
        all.add(beginVirtual(name + "-2", () -> {
            work();
            go.countDown();
        }));
        joinAll(all.toArray(new Thread[0]));
    }

    // ------------------------------------------------------------------ nobody left

    private static void latch(String name, boolean isBad) throws Exception {
        CountDownLatch latch = new CountDownLatch(2);
        Thread waiter = begin(name + "-1", latch::await);
        for (int i = 0; i < (isBad ? 1 : 2); i++) {
            begin(name + "-2", () -> {
                work();
                latch.countDown();
            });
        }
        joinAll(waiter);
    }

    private static void barrier(String name, boolean isBad) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(3);
        Thread first = begin(name + "-1", barrier::await);
        Thread second = begin(name + "-2", barrier::await);
        if (!isBad) {
            work();
            barrier.await();
        }
        joinAll(first, second);
    }

    private static void phaser(String name, boolean isBad) throws Exception {
        Phaser phaser = new Phaser(2);
        Thread waiter = begin(name + "-1", phaser::arriveAndAwaitAdvance);
        if (!isBad) {
            work();
            phaser.arriveAndDeregister();
        }
        joinAll(waiter);
    }

    private static void semaphore(String name, boolean isBad) throws Exception {
        Semaphore permits = new Semaphore(1);
        permits.acquire();
        Thread waiter = begin(name + "-1", permits::acquire);
        if (!isBad) {
            work();
            permits.release();
        }
        joinAll(waiter);
    }

    private static void exchanger(String name, boolean isBad) throws Exception {
        Exchanger<String> exchanger = new Exchanger<>();
        Thread waiter = begin(name + "-1", () -> exchanger.exchange("mine"));
        if (!isBad) {
            work();
            exchanger.exchange("yours");
        }
        joinAll(waiter);
    }

    private static void take(String name, boolean isBad) throws Exception {
        LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
        Thread consumer = begin(name + "-1", queue::take);
        if (!isBad) {
            work();
            queue.put("element");
        }
        joinAll(consumer);
    }

    private static void put(String name, boolean isBad) throws Exception {
        ArrayBlockingQueue<String> queue = new ArrayBlockingQueue<>(1);
        Thread producer = begin(name + "-1", () -> {
            queue.put("first");
            queue.put("second");
        });
        if (!isBad) {
            work();
            queue.take();
        }
        joinAll(producer);
    }

    private static void lockout(String name, boolean isBad) throws Exception {
        Object outer = new Object();
        Object inner = new Object();
        boolean[] isThere = new boolean[1];
        CountDownLatch waits = new CountDownLatch(1);
        Thread waiter = begin(name + "-1", () -> {
            synchronized (isBad ? outer : inner) {
                synchronized (inner) {
                    waits.countDown();
                    while (!isThere[0]) {
                        inner.wait();
                    }
                }
            }
        });
        waits.await();
        work();
        Thread notifier = begin(name + "-2", () -> {
            synchronized (outer) {
                synchronized (inner) {
                    isThere[0] = true;
                    inner.notifyAll();
                }
            }
        });
        joinAll(waiter, notifier);
    }

    private static void lockoutOfCondition(String name, boolean isBad) throws Exception {
        ReentrantLock outer = new ReentrantLock();
        ReentrantLock inner = new ReentrantLock();
        Condition isThere = inner.newCondition();
        CountDownLatch waits = new CountDownLatch(1);
        Thread waiter = begin(name + "-1", () -> {
            if (isBad) {
                outer.lock();
            }
            inner.lock();
            waits.countDown();
            isThere.await();
            inner.unlock();
        });
        waits.await();
        work();
        Thread notifier = begin(name + "-2", () -> {
            outer.lock();
            inner.lock();
            isThere.signalAll();
            inner.unlock();
            outer.unlock();
        });
        joinAll(waiter, notifier);
    }

    private static void notification(String name, boolean isBad) throws Exception {
        Object lock = new Object();
        boolean[] isThere = new boolean[1];
        Body notifying = () -> {
            synchronized (lock) {
                isThere[0] = true;
                lock.notifyAll();
            }
        };
        if (isBad) {
            joinAll(begin(name + "-2", notifying));
        }
        Thread waiter = begin(name + "-1", () -> {
            synchronized (lock) {
                lock.wait();
            }
        });
        work();
        if (!isBad) {
            joinAll(begin(name + "-2", notifying));
        }
        joinAll(waiter);
    }

    private static void signal(String name, boolean isBad) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Condition isThere = lock.newCondition();
        Thread waiter = begin(name + "-1", () -> {
            lock.lock();
            isThere.await();
            lock.unlock();
        });
        work();
        if (!isBad) {
            lock.lock();
            isThere.signal();
            lock.unlock();
        }
        joinAll(waiter);
    }

    private static void park(String name, boolean isBad) throws Exception {
        Thread parked = begin(name + "-1", LockSupport::park);
        work();
        if (!isBad) {
            LockSupport.unpark(parked);
        }
        joinAll(parked);
    }

    /** The holder of a lock ends without giving it back. */
    private static void abandoned(String name, boolean isBad) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        joinAll(begin(name + "-2", () -> {
            lock.lock();
            if (!isBad) {
                lock.unlock();
            }
        }));
        Thread waiter = begin(name + "-1", () -> {
            lock.lock();
            work();
            lock.unlock();
        });
        joinAll(waiter);
    }
}
