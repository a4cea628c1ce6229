package java.lang;

import static java.lang.ScissionNatives.configuration;
import static java.lang.ScissionProtocol.*;

import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Finds out that a program cannot go on at all: all its threads wait without a limit, and nobody is left to wake one of them.
 *
 * <p><b>Why no report is false.</b> Threads are woken by threads. All threads of the JVM are looked at, those without hooks too: each
 * waits to enter a monitor, or waits without a limit, and has done so for the whole time that the user grants. One that runs, reads
 * from a socket or a file, or waits for some time only, could wake the others: then there is no report. So a server that waits for
 * requests is none: a thread of it is in the operating system, which the JVM calls running. Left out are the threads that cannot
 * wake anybody: those of the JVM itself, threads of a pool that wait for a task and will only end if none comes, and those by which a
 * test runner talks to the build. What comes from outside of the JVM, a signal, can wake threads by shutdown hooks and
 * handlers of the program; where there are such, one thread that waits in the way in which servers wait for their end is no hang,
 * unless the user has chosen the time. A virtual
 * thread that is ready to run does not count where all threads that could carry it wait with another one on them.
 *
 * <p>A daemon that sleeps, works a little and sleeps again could wake others too. It is left out in one case: a thread has wanted a lock
 * for the whole time, and who holds that waits without a limit as well. Whoever means to be woken keeps nobody from
 * a lock for so long. Daemons that execute tasks of a pool or of a timer always count, and so do those that have moved and wait for
 * others.
 *
 * <p>Nothing else of this depends on the time that the user grants: that is for waits of which people may think that somebody outside ends
 * them. Where a thread wants a lock that is held, has nothing to run on, or where all wait for ends and results of each other,
 * nobody thinks so, and it is reported as soon as it has been seen some times, unless there are daemons or hooks as above.
 *
 * <p>Everything is asked of the JVM when nothing has moved for long, so that hooks pay nothing.
 */
final class ScissionHang {
    private static final long AFTER = configuration(WORD_HANG_AFTER);
    private static final boolean IS_TIME_CHOSEN = configuration(WORD_IS_HANG_TIME_CHOSEN) != 0;

    /** In how many looks nothing has moved when all threads are asked. */
    private static final int PROMPT_LOOKS = 2;
    private static final int QUIET_LOOKS = (int) Math.max(PROMPT_LOOKS, AFTER / ScissionNatives.lookInterval() - 1);
    /** In how many looks, one after the other, all must be found waiting, and how often in each of them. */
    private static final int CONFIRMATIONS = 2;
    private static final int READINGS = 2;
    /** While all wait, and one of them not for good, they are asked once in so many looks; and more often at first. */
    private static final int PATIENCE = 8;

    /** Threads and shutdown hooks of these packages talk to the build, and know no objects of the program. */
    private static final String[] TEST_RUNNERS = {
        "org.apache.maven.surefire.", "org.gradle.", "worker.org.gradle.", "com.intellij.rt.", "org.eclipse.jdt.internal.junit.",
    };

    /** The threads of a test runner whose calls do not show it: they wait for the next time to ask whether the build is alive. */
    private static final String TEST_RUNNER_THREADS = "surefire-forkedjvm-";

    /** What a thread is said to wait in when it wants a monitor, needs a class, and when it is virtual and has nothing to run on. */
    private static final String IN_SYNCHRONIZED = "synchronized";
    private static final String FOR_INITIALISER = "initialiser";
    private static final String WITHOUT_CARRIER = "carrier";

    /** Where threads wait for the end of others, or of their tasks. */
    private static final String[] ENDS = {
        "java.util.concurrent.FutureTask.", "java.util.concurrent.CompletableFuture.", "java.util.concurrent.ForkJoinTask.",
        "java.util.concurrent.ForkJoinPool.awaitJoin", "java.lang.Thread.join", "java.lang.VirtualThread.join",
    };
    /** Where threads wait for locks of the library. */
    private static final String[] LOCKS = {
        "java.util.concurrent.locks.ReentrantLock.lock", "java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock",
        "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock",
    };

    /** Where the only thread of a program may wait for a signal. */
    private static final String[] KEPT_ALIVE = {
        "java.lang.Object.wait", "java.lang.Thread.join", "java.util.concurrent.CountDownLatch.await",
        "java.util.concurrent.CompletableFuture.", "java.util.concurrent.locks.LockSupport.park",
        "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await",
    };

    /** In how many looks no thread has moved but housekeepers, and in how many not even these. */
    private int quietLooks;
    private int stillLooks;
    /** For how many looks a housekeeper must not have moved, unless it sleeps. */
    private int settledLooks;
    private int confirmations;
    private boolean isReported;

    // What the last reading found.
    private Thread[] waiting = new Thread[16];
    private int count;
    private boolean hasReadyVirtual;
    private boolean hasIdleCarrier;
    private boolean hasHousekeeper;

    /**
     * Called in each look, with the threads that hooks know, whether one of them has moved, and whether a housekeeper has. Whether a
     * hang was reported.
     */
    boolean look(ScissionWatchdog watchdog, ScissionThread[] known, boolean hasMoved, boolean hasHousekept) {
        if (isReported || hasMoved) {
            quietLooks = 0;
            stillLooks = 0;
            confirmations = 0;
            return false;
        }
        quietLooks++;
        stillLooks = hasHousekept ? 0 : stillLooks + 1;
        boolean isEarly = quietLooks < QUIET_LOOKS;
        boolean isDue = isPromptlyDue(stillLooks)
            || !isEarly && (isPromptlyDue(quietLooks) || quietLooks > PATIENCE && (quietLooks - QUIET_LOOKS) % PATIENCE == 0);
        if (confirmations == 0 && !isDue) {
            return false;
        }
        // A daemon that has moved since, and waits for others now, works with these.
        settledLooks = isEarly ? PROMPT_LOOKS : Math.min(quietLooks, QUIET_LOOKS);
        for (int reading = 0; reading < READINGS; reading++) {
            if (isEarly && hasHousekept || !isHung(watchdog, known, isEarly) || isEarly && !waitForEachOther()) {
                confirmations = 0;
                return false;
            }
        }
        return ++confirmations >= CONFIRMATIONS && report(watchdog);
    }

    private static boolean isPromptlyDue(int looks) {
        return looks > 0 && looks <= PATIENCE && looks % PROMPT_LOOKS == 0;
    }

    // ------------------------------------------------------------------ who waits

    private boolean isHung(ScissionWatchdog watchdog, ScissionThread[] known, boolean isEarly) {
        count = 0;
        hasReadyVirtual = false;
        hasIdleCarrier = false;
        hasHousekeeper = false;
        boolean canBeSignalled = !IS_TIME_CHOSEN && canBeEndedFromOutside();
        boolean isSure = !isEarly || !canBeSignalled;
        for (Thread thread : platformThreads()) {
            isSure = isSure && (thread == null || thread == Thread.currentThread() || cannotGoOn(watchdog, thread));
        }
        for (ScissionThread s : known) {
            Thread thread = s.thread.get();
            if (isSure && thread != null && isVirtual(thread)) {
                isSure = virtualCannotGoOn(thread);
            }
        }
        boolean hasLiving = false;
        for (int i = 0; i < count; i++) {
            hasLiving |= !waiting[i].isDaemon();
        }
        return isSure && hasLiving && !(hasReadyVirtual && hasIdleCarrier)
            && !(hasHousekeeper && (isEarly || !isLockedOut(watchdog)))
            && !(canBeSignalled && isKeptAlive());
    }

    /** Whether a thread wants a lock that another one holds which waits as well. */
    private boolean isLockedOut(ScissionWatchdog watchdog) {
        Map<Thread, Thread> all = new IdentityHashMap<>();
        for (int i = 0; i < count; i++) {
            all.put(waiting[i], waiting[i]);
        }
        for (int i = 0; i < count; i++) {
            Thread owner = watchdog.lockOwner(waiting[i]);
            if (owner != null && owner != waiting[i] && all.containsKey(owner)) {
                return true;
            }
        }
        return false;
    }

    /** Whether all but one of the threads that wait are daemons, and that one waits as if for the end of the program. */
    private boolean isKeptAlive() {
        Thread living = null;
        for (int i = 0; i < count; i++) {
            if (!waiting[i].isDaemon()) {
                if (living != null) {
                    return false;
                }
                living = waiting[i];
            }
        }
        return living != null && ScissionWatchdog.stateOf(living) == Thread.State.WAITING
            && isIn(ScissionNatives.calls(living), KEPT_ALIVE);
    }

    /** Whether a thread is a daemon that the program has made, of no pool and no timer. */
    static boolean isHousekeeper(Thread thread) {
        if (!thread.isDaemon() || isVirtual(thread)) {
            return false;
        }
        Object task = ScissionWatchdog.task(thread);
        boolean isOwnTask = task != null && task.getClass().getClassLoader() != null;
        Class<?> type = thread.getClass();
        return type == Thread.class ? isOwnTask : type.getClassLoader() != null && (task == null || isOwnTask);
    }

    /** Whether the program sleeps in a thread, and the library does not. */
    private static boolean isAsleep(String calls) {
        String last = null;
        for (String call : calls.split(" ")) {
            if (call.startsWith("+")) {
                return last != null && !calls.contains(" java.util.concurrent.ForkJoin") && !calls.contains("java.util.concurrent.ThreadPool");
            }
            if (!call.startsWith("java.lang.Thread.sleep") && !call.startsWith("java.util.concurrent.TimeUnit.sleep")
                && !call.startsWith("java.lang.Thread.beforeSleep") && !call.startsWith("java.lang.Thread.afterSleep")) {
                return false;
            }
            last = call;
        }
        return false;
    }

    private static Thread[] platformThreads() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread[] threads = new Thread[64];
        int found = group.enumerate(threads, true);
        while (found == threads.length) {
            threads = new Thread[found * 2];
            found = group.enumerate(threads, true);
        }
        return threads;
    }

    /** Whether the threads that wait can only wait for each other, whatever happens outside of the JVM. */
    private boolean waitForEachOther() {
        int ends = 0;
        for (int i = 0; i < count; i++) {
            Thread.State state = ScissionWatchdog.stateOf(waiting[i]);
            String calls = state == Thread.State.WAITING ? ScissionNatives.calls(waiting[i]) : null;
            if (calls == null || isIn(calls, LOCKS)) {
                return true;
            }
            ends += isIn(calls, ENDS) ? 1 : 0;
        }
        return count > 1 && ends == count;
    }

    /** Whether a thread is in one of these methods, called by none of the program. */
    private static boolean isIn(String calls, String[] methods) {
        for (String call : calls == null ? new String[0] : calls.split(" ")) {
            if (call.startsWith("+")) {
                return false;
            }
            for (String method : methods) {
                if (call.startsWith(method)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean cannotGoOn(ScissionWatchdog watchdog, Thread thread) {
        Thread.State state = ScissionWatchdog.stateOf(thread);
        boolean isCarrier = thread.getClass().getName().equals("jdk.internal.misc.CarrierThread");
        if (state == Thread.State.BLOCKED || state == Thread.State.WAITING) {
            if (watchdog.hasMoved(thread.$scission, settledLooks)) {
                return false;
            }
            String calls = ScissionNatives.calls(thread);
            hasIdleCarrier |= isCarrier && isIdle(calls);
            if (calls != null && calls.indexOf('+') >= 0 && !isOfTestRunner(calls)) {
                add(thread);
            }
            return calls != null;
        }
        if (state == Thread.State.TERMINATED || state == Thread.State.NEW) {
            return true;
        }
        if (watchdog.waitsForClassOfStuck(thread.$scission)) {
            add(thread);
            return true;
        }
        String calls = ScissionNatives.calls(thread);
        hasIdleCarrier |= isCarrier && isIdle(calls);
        if (calls != null && isHousekeeper(thread) && isAsleep(calls) && !isOfTestRunner(calls)) {
            hasHousekeeper = true;
            return true;
        }
        return calls != null
            && (isOfJvm(thread, calls) || isIdle(calls) || isOfTestRunner(calls)
                || calls.indexOf('+') < 0 && talksToBuild(thread));
    }

    private void add(Thread thread) {
        if (count == waiting.length) {
            waiting = java.util.Arrays.copyOf(waiting, count * 2);
        }
        waiting[count++] = thread;
    }

    private boolean virtualCannotGoOn(Thread thread) {
        Thread.State state = thread.getState();
        if (state == Thread.State.RUNNABLE && ScissionWatchdog.carrier(thread) == null) {
            hasReadyVirtual = true;
            add(thread);
            return true;
        }
        if (state == Thread.State.BLOCKED || state == Thread.State.WAITING) {
            add(thread);
            return true;
        }
        return state == Thread.State.TERMINATED || state == Thread.State.NEW;
    }

    static boolean isVirtual(Thread thread) {
        return thread.getClass().getName().equals("java.lang.VirtualThread");
    }

    /** Whether a thread belongs to the JVM and runs nothing of the program that could wake a thread. */
    private static boolean isOfJvm(Thread thread, String calls) {
        if (calls.isEmpty()) {
            ThreadGroup group = thread.getThreadGroup();
            return group == null || group.getParent() == null && thread.isDaemon() || thread.getName().equals("DestroyJavaVM");
        }
        return calls.indexOf('+') < 0
            && (thread.getClass().getName().startsWith("java.lang.ref.") || calls.contains("jdk.internal.ref.CleanerImpl.run"));
    }

    /** Whether a thread of a pool waits for a task, and will end if none comes. */
    private static boolean isIdle(String calls) {
        return calls != null && calls.indexOf('+') < 0
            && (calls.contains("java.util.concurrent.ForkJoinPool.awaitWork")
                || calls.contains("java.util.concurrent.ThreadPoolExecutor.getTask") && !calls.contains("DelayedWorkQueue"));
    }

    /** Whether all that is not library code belongs to a test runner, and there is some. */
    private static boolean isOfTestRunner(String calls) {
        boolean isThere = false;
        for (String call : calls.split(" ")) {
            boolean isWatched = call.startsWith("+");
            boolean isOfRunner = isOfTestRunnerByName(isWatched ? call.substring(1) : call);
            if (isWatched && !isOfRunner) {
                return false;
            }
            isThere |= isOfRunner;
        }
        return isThere;
    }

    /** Whether a thread does nothing but talk to the build, by its name: what it does is no progress. */
    static boolean talksToBuild(Thread thread) {
        return thread.getName().startsWith(TEST_RUNNER_THREADS);
    }

    private static boolean isOfTestRunnerByName(String name) {
        for (String prefix : TEST_RUNNERS) {
            if (name.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    // ------------------------------------------------------------------ from outside

    /** Whether a signal would run code of the program. */
    private static boolean canBeEndedFromOutside() {
        try {
            Map<?, ?> hooks = (Map<?, ?>) ScissionWatchdog.staticValue(Class.forName("java.lang.ApplicationShutdownHooks"), "hooks");
            for (Object hook : hooks == null ? new Object[0] : hooks.keySet().toArray()) {
                Object task = ScissionWatchdog.task((Thread) hook);
                if (isOfProgram(hook) || task != null && isOfProgram(task)) {
                    return true;
                }
            }
            Map<?, ?> handlers = (Map<?, ?>) ScissionWatchdog.staticValue(Class.forName("jdk.internal.misc.Signal"), "handlers");
            Collection<?> all = handlers == null ? java.util.Collections.emptyList() : handlers.values();
            for (Object handler : all.toArray()) {
                String name = handler.getClass().getName();
                if (!name.startsWith("java.lang.") && !name.startsWith("jdk.internal.misc.")) {
                    return true;
                }
            }
            return false;
        } catch (ReflectiveOperationException | RuntimeException unknown) {
            return true;
        }
    }

    private static boolean isOfProgram(Object object) {
        Class<?> type = object.getClass();
        return type.getClassLoader() != null && !isOfTestRunnerByName(type.getName());
    }

    // ------------------------------------------------------------------ the report

    private boolean report(ScissionWatchdog watchdog) {
        ScissionThread last = null;
        for (int i = 0; i < count; i++) {
            ScissionThread s = waiting[i].$scission;
            if (s != null && !s.isOfJvm) {
                watchdog.reportHeld(s, waiting[i]);
                last = s;
            }
        }
        if (last == null) {
            return false;
        }
        isReported = true;
        for (int i = 0; i < count; i++) {
            ScissionThread s = waiting[i].$scission;
            if (s != null && !s.isOfJvm) {
                stalled(watchdog, s, waiting[i]);
            }
        }
        ScissionEvents.onBehalf(last, EVENT_HUNG, 0, 0, 0);
        return true;
    }

    /** Reports what a thread waits for. */
    static void stalled(ScissionWatchdog watchdog, ScissionThread s, Thread thread) {
        Thread.State state = ScissionWatchdog.stateOf(thread);
        Object object = null;
        String call = IN_SYNCHRONIZED;
        if (state == Thread.State.BLOCKED) {
            object = ScissionNatives.contendedMonitor(thread);
        } else if (state == Thread.State.RUNNABLE) {
            call = s.stuck != null && s.stuck.isForClass ? FOR_INITIALISER : WITHOUT_CARRIER;
        } else {
            call = libraryCall(ScissionNatives.calls(thread));
        }
        long id = object != null ? ScissionWatchdog.id(s, object) : s.waiting != 0 ? s.waiting : watchdog.wantedLock(s);
        int site = ScissionNatives.currentSite(thread, s.number);
        ScissionEvents.onBehalf(s, EVENT_STALLED, site, id, ScissionNatives.classNumber(call));
    }

    /** The method of the library that code of the program has called. */
    private static String libraryCall(String calls) {
        String last = IN_SYNCHRONIZED;
        for (String call : calls == null ? new String[0] : calls.split(" ")) {
            if (call.startsWith("+")) {
                break;
            }
            last = call;
        }
        return last;
    }
}
