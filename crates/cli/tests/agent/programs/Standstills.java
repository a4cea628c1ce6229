package torture;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.StampedLock;

/** Threads that wait in vain, in the ways that the first argument names; and those that only wait for long. */
public class Standstills {
    private static final int LONG = 3_000;

    private interface Body {
        void run() throws Exception;
    }

    private static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }, name);
        thread.start();
        return thread;
    }

    private static Thread startVirtual(Runnable body) throws Exception {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }

    /** Does not return before a thread waits. */
    private static void awaitWaiting(Thread thread) throws Exception {
        while (thread.getState() == Thread.State.NEW || thread.getState() == Thread.State.RUNNABLE) {
            Thread.sleep(1);
        }
    }

    private static void daemon(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void startHousekeeper() {
        Object own = new Object();
        int[] rounds = {0};
        daemon("housekeeper", () -> {
            while (true) {
                Thread.sleep(50);
                synchronized (own) {
                    rounds[0]++;
                }
            }
        });
    }

    /** Waits for a notification while it holds what the notifier needs. */
    private static void lockout() throws Exception {
        Object outer = new Object();
        Object inner = new Object();
        Thread waiter = start("waiter", () -> {
            synchronized (outer) {
                synchronized (inner) {
                    inner.wait();
                }
            }
        });
        awaitWaiting(waiter);
        synchronized (outer) {
            synchronized (inner) {
                inner.notifyAll();
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "hang": {
                Everything everything = new Everything(3);
                for (Thread thread : everything.startAll()) {
                    thread.join();
                }
                break;
            }
            case "lockout": {
                lockout();
                break;
            }
            case "housekeeper": {
                // A daemon that sleeps, works a little and sleeps again wakes nobody.
                startHousekeeper();
                lockout();
                break;
            }
            case "hook": {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("it ends")));
                startHousekeeper();
                lockout();
                break;
            }
            case "kept-alive": {
                // As servers do it whose threads are daemons: only a signal ends it.
                CountDownLatch end = new CountDownLatch(1);
                Runtime.getRuntime().addShutdownHook(new Thread(end::countDown));
                System.out.println("waits");
                end.await();
                break;
            }
            case "kept-alive-by-daemon": {
                startHousekeeper();
                CountDownLatch end = new CountDownLatch(1);
                daemon("late", () -> {
                    Thread.sleep(LONG);
                    end.countDown();
                });
                end.await();
                break;
            }
            case "daemon-holds": {
                // The daemon holds the lock that others want while it sleeps.
                Object lock = new Object();
                CountDownLatch isHeld = new CountDownLatch(1);
                daemon("sleeper", () -> {
                    synchronized (lock) {
                        isHeld.countDown();
                        Thread.sleep(LONG);
                    }
                });
                isHeld.await();
                Thread other = start("other", () -> {
                    synchronized (lock) {
                        System.out.println("it goes on");
                    }
                });
                synchronized (lock) {
                    other.getName();
                }
                other.join();
                break;
            }
            case "exits": {
                StampedLock lock = new StampedLock();
                start("stamper", () -> {
                    lock.writeLock();
                    lock.readLock();
                });
                Thread.sleep(2 * LONG);
                System.exit(3);
                break;
            }
            case "pool": {
                ExecutorService pool = Executors.newFixedThreadPool(2);
                CountDownLatch begun = new CountDownLatch(2);
                Callable<Integer> outer = () -> {
                    begun.countDown();
                    begun.await();
                    return pool.submit(() -> 1).get();
                };
                pool.submit(outer);
                pool.submit(outer).get();
                break;
            }
            case "pool-of-futures": {
                ExecutorService pool = Executors.newSingleThreadExecutor();
                CompletableFuture.supplyAsync(() -> CompletableFuture.supplyAsync(() -> 1, pool).join(), pool).join();
                break;
            }
            case "initialisers": {
                CountDownLatch begun = new CountDownLatch(2);
                Left.begun = Right.begun = begun;
                Thread left = start("left", () -> System.out.println(LeftValue.value));
                Thread right = start("right", () -> System.out.println(RightValue.value));
                left.join();
                right.join();
                break;
            }
            case "superclass": {
                Gate.inParent = new CountDownLatch(1);
                Thread parent = start("parent", () -> System.out.println(Parent.child));
                Gate.inParent.await();
                Thread child = start("child", () -> System.out.println(new Child()));
                // The thread comes to wait for the superclass, which nothing shows.
                Thread.sleep(300);
                Gate.goOn = true;
                parent.join();
                child.join();
                break;
            }
            case "stamped": {
                StampedLock lock = new StampedLock();
                start("stamper", () -> {
                    lock.writeLock();
                    lock.readLock();
                }).join();
                break;
            }
            case "join": {
                Object lock = new Object();
                Thread worker;
                synchronized (lock) {
                    worker = start("worker", () -> {
                        synchronized (lock) {
                            System.out.println("it works");
                        }
                    });
                    worker.join();
                }
                break;
            }
            case "virtual-join": {
                Object lock = new Object();
                synchronized (lock) {
                    startVirtual(() -> {
                        synchronized (lock) {
                            System.out.println("it works");
                        }
                    }).join();
                }
                break;
            }
            case "pinned": {
                CountDownLatch go = new CountDownLatch(1);
                List<Thread> pinned = new ArrayList<>();
                for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
                    Object own = new Object();
                    pinned.add(startVirtual(() -> {
                        synchronized (own) {
                            try {
                                go.await();
                            } catch (InterruptedException interrupted) {
                                throw new IllegalStateException(interrupted);
                            }
                        }
                    }));
                }
                Thread.sleep(300);
                startVirtual(go::countDown).join();
                break;
            }
            case "long": {
                // All that the others wait for comes, only late: a daemon sleeps before.
                Everything everything = new Everything(2);
                Thread[] threads = everything.startAll();
                Thread late = new Thread(() -> {
                    try {
                        Thread.sleep(LONG);
                        everything.release(threads[0]);
                    } catch (Exception failed) {
                        throw new IllegalStateException(failed);
                    }
                });
                late.setDaemon(true);
                late.start();
                for (Thread thread : threads) {
                    thread.join();
                }
                break;
            }
            case "server": {
                ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                socket.setSoTimeout(LONG);
                start("acceptor", () -> {
                    try {
                        socket.accept();
                    } catch (SocketTimeoutException nobodyCame) {
                        socket.close();
                    }
                }).join();
                break;
            }
            case "scheduled": {
                ScheduledExecutorService later = Executors.newScheduledThreadPool(1);
                ExecutorService idle = Executors.newFixedThreadPool(2);
                idle.submit(() -> 1).get();
                CountDownLatch done = new CountDownLatch(1);
                later.schedule(done::countDown, LONG, TimeUnit.MILLISECONDS);
                done.await();
                later.shutdown();
                idle.shutdown();
                break;
            }
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("ended");
    }

    private static void meet(CountDownLatch latch) {
        latch.countDown();
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static class Left {
        static volatile CountDownLatch begun;
    }

    private static class Right {
        static volatile CountDownLatch begun;
    }

    private static class LeftValue {
        static final int value;

        static {
            meet(Left.begun);
            value = RightValue.value + 1;
        }
    }

    private static class RightValue {
        static final int value;

        static {
            meet(Right.begun);
            value = LeftValue.value + 1;
        }
    }

    private static class Gate {
        static volatile CountDownLatch inParent;
        static volatile boolean goOn;
    }

    private static class Parent {
        static final Object child;

        static {
            Gate.inParent.countDown();
            while (!Gate.goOn) {
                Thread.onSpinWait();
            }
            child = new Child();
        }
    }

    private static class Child extends Parent {
    }

    /** Something of everything that threads can wait for. */
    private static class Everything {
        private final Semaphore permits = new Semaphore(0);
        private final CountDownLatch latch = new CountDownLatch(1);
        private final CyclicBarrier barrier;
        private final Phaser phaser;
        private final Exchanger<String> exchanger = new Exchanger<>();
        private final LinkedBlockingQueue<String> elements = new LinkedBlockingQueue<>();
        private final ArrayBlockingQueue<String> room = new ArrayBlockingQueue<>(1);
        private final CompletableFuture<String> future = new CompletableFuture<>();
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition condition = lock.newCondition();
        private boolean isNotified;

        Everything(int parties) {
            barrier = new CyclicBarrier(parties);
            phaser = new Phaser(parties);
            room.add("first");
        }

        Thread[] startAll() {
            return new Thread[] {
                start("park", LockSupport::park),
                start("permit", permits::acquire),
                start("latch", latch::await),
                start("barrier", barrier::await),
                start("phaser", phaser::arriveAndAwaitAdvance),
                start("exchanger", () -> exchanger.exchange("mine")),
                start("element", elements::take),
                start("room", () -> room.put("second")),
                start("get", future::get),
                start("joined", future::join),
                start("notification", this::awaitNotification),
                start("condition", this::awaitCondition),
            };
        }

        private synchronized void awaitNotification() throws InterruptedException {
            while (!isNotified) {
                wait();
            }
        }

        private void awaitCondition() throws InterruptedException {
            lock.lock();
            try {
                condition.await();
            } finally {
                lock.unlock();
            }
        }

        void release(Thread parked) throws Exception {
            permits.release();
            latch.countDown();
            barrier.await();
            phaser.arriveAndAwaitAdvance();
            exchanger.exchange("yours");
            elements.put("element");
            room.take();
            future.complete("result");
            synchronized (this) {
                isNotified = true;
                notifyAll();
            }
            lock.lock();
            condition.signalAll();
            lock.unlock();
            LockSupport.unpark(parked);
        }
    }
}
