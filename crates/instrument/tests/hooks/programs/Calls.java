import java.util.List;
import java.util.Vector;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

class Calls {
    static class Worker extends Thread {
        @Override
        public void run() { }
    }

    static class Wrapper extends Thread {
        Wrapper(Runnable task) {
            super(task, "wrapped");
        }
    }

    static class Own extends ReentrantLock {
        void twice() {
            lock();
            unlock();
        }
    }

    public static void main(String[] arguments) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        lock.unlock();
        System.out.println(lock.tryLock(5L, TimeUnit.SECONDS));
        Condition condition = lock.newCondition();
        System.out.println(condition.await(1L, TimeUnit.NANOSECONDS));
        condition.signalAll();
        lock.unlock();
        ReadWriteLock both = new ReentrantReadWriteLock();
        both.readLock().lock();
        both.readLock().unlock();
        StampedLock stamped = new StampedLock();
        long stamp = stamped.tryWriteLock();
        System.out.println(stamped.tryReadLock());
        stamped.unlockWrite(stamp);
        Worker worker = new Worker();
        worker.start();
        worker.join();
        System.out.println(worker.isAlive());
        new Wrapper(new Worker()).join(1L, 1);
        Object monitor = new Object();
        synchronized (monitor) {
            monitor.wait(1L, 1);
            monitor.notify();
            monitor.notifyAll();
        }
        AtomicInteger number = new AtomicInteger();
        number.set(1);
        System.out.println(number.get() + number.incrementAndGet());
        System.out.println(number.compareAndSet(2, 3) || number.compareAndSet(1, 2));
        System.out.println(number.compareAndSet(1, 2));
        number.incrementAndGet();
        long seen = stamped.tryOptimisticRead();
        System.out.println(stamped.validate(seen));
        CountDownLatch latch = new CountDownLatch(1);
        latch.countDown();
        System.out.println(latch.await(1L, TimeUnit.SECONDS));
        CyclicBarrier barrier = new CyclicBarrier(1);
        System.out.println(barrier.await());
        Semaphore semaphore = new Semaphore(1);
        semaphore.acquire();
        semaphore.release();
        Vector<Object> vector = new Vector<>();
        vector.add(1);
        System.out.println(vector.size());
        ExecutorService pool = Executors.newFixedThreadPool(1);
        Future<Integer> future = pool.submit(new Job());
        System.out.println(future.get());
        System.out.println(pool.invokeAll(List.of(new Job())).size());
        pool.shutdown();
        System.out.println(pool.awaitTermination(5L, TimeUnit.SECONDS));
        BlockingQueue<Object> queue = new ArrayBlockingQueue<>(1);
        System.out.println(queue.poll());
        System.out.println(queue.offer(5, 1L, TimeUnit.SECONDS));
        System.out.println(queue.poll());
        FutureTask<Object> task = new FutureTask<>(new Job()::call);
        task.run();
        Thread.currentThread().interrupt();
        System.out.println(Thread.interrupted());
        new Own().twice();
        ReentrantLock none = null;
        try {
            System.out.println(none.tryLock(5L, TimeUnit.SECONDS));
        } catch (NullPointerException exception) {
            System.out.println(exception.getMessage());
        }
        Worker nobody = null;
        try {
            nobody.start();
        } catch (NullPointerException exception) {
            System.out.println(exception.getMessage());
        }
    }

    static class Job implements Callable<Integer> {
        @Override
        public Integer call() {
            return 42;
        }
    }
}
