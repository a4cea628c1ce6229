package java.lang;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Finds pools whose threads all wait for tasks that only they could execute, and for what others hold who wait so.
 *
 * <p><b>Why no report is false.</b> A task that is queued in a pool runs when a thread of the pool takes it, and the pool makes no more
 * threads for tasks that are queued: it has as many as it keeps, and its queue is never full or it has as many as it may have. A set of
 * threads is reported of which each is stuck, as the watchdog means it: it waits without a limit for a task that is still queued in a
 * pool all of whose threads are in the set, or for what one thread of the set executes, holds or initialises. None of them can be the
 * first to go on.
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

    /** The pools of the threads that are stuck in this look; null if nobody has asked yet. */
    private ArrayList<ThreadPoolExecutor> candidates;
    /** The pools in which tasks wait for the threads that were looked at last. */
    private final ArrayList<ThreadPoolExecutor> of = new ArrayList<>();
    /** Whether there are threads of no pool, or of other pools than the first one, among these. */
    private boolean hasOthers;

    private static Field inner(String type, String name) {
        try {
            return ScissionWatchdog.field(Class.forName(type), name);
        } catch (ClassNotFoundException unknown) {
            return null;
        }
    }

    /** A look begins. */
    void begin() {
        candidates = null;
        of.clear();
    }

    /** The pool that a thread belongs to; null if it is none, or not known. */
    ThreadPoolExecutor poolOf(Thread thread) {
        Object task = ScissionWatchdog.task(thread);
        boolean isWorker = task != null && workerPool != null && workerPool.getDeclaringClass() == task.getClass();
        return isWorker ? (ThreadPoolExecutor) ScissionWatchdog.value(workerPool, task) : null;
    }

    /**
     * The threads that must move before this one can, itself included, if each of them waits for another of them, or for a task that
     * only they could execute, and one at least for such a task; else null.
     */
    ScissionThread[] starved(ScissionThread start, ScissionWatchdog watchdog) {
        ArrayList<ScissionThread> all = new ArrayList<>();
        HashSet<ScissionThread> known = new HashSet<>();
        of.clear();
        all.add(start);
        known.add(start);
        for (int i = 0; i < all.size(); i++) {
            ScissionThread s = all.get(i);
            if (s == null || s.stuck == null || s.stuck.isReported) {
                return null;
            }
            ScissionThread[] awaited = watchdog.awaited(s);
            awaited = awaited == null ? executing(s.stuck.wanted, watchdog) : awaited;
            if (awaited == null) {
                return null;
            }
            for (ScissionThread one : awaited) {
                if (known.add(one)) {
                    all.add(one);
                }
            }
        }
        if (of.isEmpty()) {
            return null;
        }
        hasOthers = false;
        for (ScissionThread s : all) {
            Thread thread = s.thread.get();
            hasOthers |= thread == null || poolOf(thread) != of.get(0);
        }
        return all.toArray(new ScissionThread[0]);
    }

    /** The pools that were found last: the first one twice if there are threads of no pool, or of others, among those that starve. */
    Object[] ofStarved() {
        ArrayList<Object> all = new ArrayList<>(of);
        if (hasOthers && all.size() == 1) {
            all.add(all.get(0));
        }
        return all.toArray();
    }

    /** The threads of the pool in which a task is queued, if they are all stuck; else null. */
    private ScissionThread[] executing(Object wanted, ScissionWatchdog watchdog) {
        if (wanted == null || !mayBeQueued(wanted)) {
            return null;
        }
        if (candidates == null) {
            candidates = watchdog.poolsOfStuck(this);
        }
        for (ThreadPoolExecutor pool : candidates) {
            ScissionThread[] workers = workersIfQueued(pool, wanted);
            if (workers != null) {
                if (!of.contains(pool)) {
                    of.add(pool);
                }
                return workers;
            }
        }
        return null;
    }

    private static boolean mayBeQueued(Object wanted) {
        return wanted instanceof FutureTask || wanted.getClass().getName().equals(SIGNALLER);
    }

    /** The threads of a pool that makes no more of them, if they are stuck and a task is queued in it; else null. */
    private ScissionThread[] workersIfQueued(ThreadPoolExecutor pool, Object wanted) {
        ReentrantLock lock = (ReentrantLock) ScissionWatchdog.value(mainLock, pool);
        ScissionThread[] threads;
        if (lock == null || !lock.tryLock()) {
            return null;
        }
        try {
            Collection<?> all = (Collection<?>) ScissionWatchdog.value(workers, pool);
            Object[] each = all.toArray();
            threads = new ScissionThread[each.length];
            for (int i = 0; i < each.length; i++) {
                Thread thread = (Thread) ScissionWatchdog.value(workerThread, each[i]);
                threads[i] = thread == null ? null : thread.$scission;
                if (threads[i] == null || threads[i].stuck == null) {
                    return null;
                }
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
        return isQueued(wanted, queue.toArray()) ? threads : null;
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
