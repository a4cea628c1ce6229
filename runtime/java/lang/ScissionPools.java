package java.lang;

import java.lang.reflect.Field;
import java.util.Collection;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Finds pools whose threads all wait for tasks that only they could execute.
 *
 * <p><b>Why no report is false.</b> A task that is queued in a pool runs when a thread of the pool takes it, and the pool makes no more
 * threads for tasks that are queued: it has as many as it keeps, and its queue is never full or it has as many as it may have. Each of its
 * threads is stuck, as the watchdog means it: it waits without a limit for a task that is still queued in this very pool, for one that
 * another of its threads executes, or for a lock that another one holds.
 */
final class ScissionPools {
    /** How many tasks of a queue are looked at. */
    private static final int MOST_QUEUED = 1 << 16;
    private static final String SIGNALLER = "java.util.concurrent.CompletableFuture$Signaller";

    private final Field workers = ScissionWatchdog.field(ThreadPoolExecutor.class, "workers");
    private final Field mainLock = ScissionWatchdog.field(ThreadPoolExecutor.class, "mainLock");
    private final Field workerThread = inner("java.util.concurrent.ThreadPoolExecutor$Worker", "thread");
    private final Field workerPool = inner("java.util.concurrent.ThreadPoolExecutor$Worker", "this$0");
    private final Field runner = ScissionWatchdog.field(FutureTask.class, "runner");
    private final Field futureState = ScissionWatchdog.field(FutureTask.class, "state");
    private final Field supplied = inner("java.util.concurrent.CompletableFuture$AsyncSupply", "dep");
    private final Field run = inner("java.util.concurrent.CompletableFuture$AsyncRun", "dep");
    private final Field stack = inner("java.util.concurrent.CompletableFuture", "stack");
    private final Field nextCompletion = inner("java.util.concurrent.CompletableFuture$Completion", "next");

    private static Field inner(String type, String name) {
        try {
            return ScissionWatchdog.field(Class.forName(type), name);
        } catch (ClassNotFoundException unknown) {
            return null;
        }
    }

    /** Whether a stuck thread may wait for a task that nobody executes. */
    boolean mayStarve(ScissionWatchdog.Stuck state) {
        return state.wanted instanceof FutureTask && ScissionWatchdog.value(runner, state.wanted) == null
            || state.wanted != null && state.wanted.getClass().getName().equals(SIGNALLER);
    }

    /** The pool that a thread belongs to; null if it is none, or not known. */
    ThreadPoolExecutor poolOf(Thread thread) {
        Object task = ScissionWatchdog.task(thread);
        boolean isWorker = task != null && workerPool != null && workerPool.getDeclaringClass() == task.getClass();
        return isWorker ? (ThreadPoolExecutor) ScissionWatchdog.value(workerPool, task) : null;
    }

    /** The threads of a pool, if they all wait for tasks of it, or for each other; else null. */
    ScissionThread[] starved(ThreadPoolExecutor pool, ScissionWatchdog watchdog) {
        ReentrantLock lock = (ReentrantLock) ScissionWatchdog.value(mainLock, pool);
        Thread[] threads;
        if (lock == null || !lock.tryLock()) {
            return null;
        }
        try {
            Collection<?> all = (Collection<?>) ScissionWatchdog.value(workers, pool);
            Object[] of = all.toArray();
            threads = new Thread[of.length];
            for (int i = 0; i < of.length; i++) {
                threads[i] = (Thread) ScissionWatchdog.value(workerThread, of[i]);
            }
        } finally {
            lock.unlock();
        }
        Collection<?> queue = pool.getQueue();
        if (threads.length < pool.getCorePoolSize() || queue.getClass().getClassLoader() != null
            || threads.length < pool.getMaximumPoolSize() && pool.getQueue().remainingCapacity() < Integer.MAX_VALUE - MOST_QUEUED
            || queue.size() > MOST_QUEUED) {
            return null;
        }
        Object[] queued = queue.toArray();
        ScissionThread[] starved = new ScissionThread[threads.length];
        boolean isOneQueued = false;
        for (int i = 0; i < threads.length; i++) {
            ScissionThread s = threads[i] == null ? null : threads[i].$scission;
            if (s == null || s.stuck == null || s.stuck.isReported || s.stuck.wanted == null) {
                return null;
            }
            starved[i] = s;
            boolean isQueued = isQueued(s.stuck.wanted, queued);
            isOneQueued |= isQueued;
            if (!isQueued && !contains(threads, watchdog.owner(s.stuck))) {
                return null;
            }
        }
        return isOneQueued ? starved : null;
    }

    private boolean isQueued(Object wanted, Object[] queued) {
        if (wanted instanceof FutureTask) {
            Object state = ScissionWatchdog.value(futureState, wanted);
            return contains(queued, wanted) && Integer.valueOf(0).equals(state);
        }
        if (!wanted.getClass().getName().equals(SIGNALLER)) {
            return false;
        }
        for (Object task : queued) {
            Object future = of(supplied, task);
            future = future == null ? of(run, task) : future;
            Object completion = future == null ? null : ScissionWatchdog.value(stack, future);
            while (completion != null && completion != wanted) {
                completion = ScissionWatchdog.value(nextCompletion, completion);
            }
            if (completion != null) {
                return true;
            }
        }
        return false;
    }

    private static Object of(Field field, Object object) {
        boolean has = field != null && object != null && field.getDeclaringClass() == object.getClass();
        return has ? ScissionWatchdog.value(field, object) : null;
    }

    private static boolean contains(Object[] all, Object wanted) {
        for (Object one : all) {
            if (one == wanted && one != null) {
                return true;
            }
        }
        return false;
    }
}
