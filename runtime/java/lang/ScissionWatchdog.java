package java.lang;

import static java.lang.ScissionNatives.configuration;
import static java.lang.ScissionProtocol.*;

import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;
import jdk.internal.misc.Unsafe;

/**
 * Finds threads that wait for each other.
 *
 * <p>A thread of its own looks at all threads that hooks know, a few times a second. A thread that waits without a limit, and has begun no
 * epoch since the last look, is stuck. What it waits for is asked of the JVM: the monitor that it wants to enter, or the object that it is
 * parked for. Who holds that is asked of the JVM as well, of the lock itself, or of the locks that hooks have noted: a lock that is held
 * shared and a monitor of a virtual thread are known to nobody else. A thread that waits for the initialisation of a class is stuck as
 * well, although the JVM calls it running; see {@link ScissionInitialisers}.
 *
 * <p><b>Why no report is false.</b> The same cycle must be seen in two looks, and each time it is read forwards and checked once more:
 * every thread of it is in the epoch and waits for the object as before. Hooks begin an epoch at every acquisition and release. So a thread
 * that was in the same epoch and waited for the same object before and after its locks were read held them while it waited, and that at
 * one moment for all threads of the cycle. Each of them waits for all who hold what it wants. Where a monitor is taken and given back in
 * code without hooks the epoch does not show it, and the reading is repeated often instead.
 *
 * <p>Hooks pay for it with one store at each acquisition, the place of it, and an entry in the list for each thread.
 */
final class ScissionWatchdog implements Runnable {
    /** What the JVM says of a thread that waits to enter a monitor, and of one that waits without a limit. */
    private static final int JVM_BLOCKED = 0x400;
    private static final int JVM_WAITING = 0x10;

    /** Whether anybody wants to know. */
    static final boolean IS_AT_WORK = configuration(WORD_WATCHDOG) != 0;
    /** Whether the JVM ends after a report. */
    private static final boolean EXITS = configuration(WORD_EXITS_ON_DEADLOCK) != 0;

    /** How often a cycle is read again in one look. */
    private static final int READINGS = 16;
    /** How many pauses the report may take before the JVM is ended without it. */
    private static final int MOST_PAUSES = 25;
    /** While a thread stays where it is, the JVM is asked in how many of so many looks which monitor it wants. */
    private static final int ASKED_LOOKS = 3;
    private static final int LOOKS = 8;

    /** With more stuck threads than this it is not asked who joins whom. */
    private static final int MOST_JOINED = 64;

    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long NEXT_OBJECT = configuration(WORD_NEXT_OBJECT);

    /** The threads that hooks have seen and that have not ended, in no order. */
    private static ScissionThread[] threads = new ScissionThread[64];
    private static int count;

    /** What is known of a thread that does not move. */
    static final class Stuck {
        /** What it waits for: an object whose monitor it wants, a thread, or what it is parked for. */
        Object wanted;
        /** Whether it waits to enter a monitor. */
        boolean wantsMonitor;
        /** Whether it waits for the initialisation of a class: the JVM calls it running. */
        boolean isForClass;
        /** The methods that it is in, if somebody has asked; it does not leave them. */
        String calls;
        /** The thread that it joins, if that was hard to find. */
        Thread joined;
        /** The pool that was seen to starve with it, and when. */
        Object starvedPool;
        int starvedLook;
        /** In how many looks it was seen like that. */
        int looks;
        /** The stuck threads that it waits for. */
        ScissionThread[] next = NOBODY;
        int nextCount;
        /** How far the search for cycles has come with it: 0 not there yet, 1 on the way, 2 done. */
        int color;
        /** The threads of the cycle that it was seen in at the last look, and when. */
        ScissionThread suspectedNext;
        int suspectedLook;
        /** Whether it has been reported. */
        boolean isReported;
    }

    private static final ScissionThread[] NOBODY = new ScissionThread[0];

    private int look;
    private final ScissionHang hang = new ScissionHang();
    private final ScissionPools pools = new ScissionPools();
    /** All threads of this look. */
    private ScissionThread[] known = NOBODY;
    /** The threads that are stuck in this look, in the first places. */
    private ScissionThread[] stuck = NOBODY;
    private int stuckCount;
    /** How often each {@code StampedLock} is held, shared and exclusively; null if nobody has asked yet. */
    private HashMap<Identity, int[]> stamps;
    /** The virtual threads among them by what others wait for who join them; null if nobody has asked yet. */
    private HashMap<Identity, Thread> virtualByEnd;
    /** The field with the synchronizer in it, by class of lock; a lock without one has the value null. */
    private final HashMap<Class<?>, Field> synchronizers = new HashMap<>();
    private final Field exclusiveOwner = field(AbstractOwnableSynchronizer.class, "exclusiveOwnerThread");
    private final Field runner = field(FutureTask.class, "runner");
    private final Field latchSynchronizer = field(CountDownLatch.class, "sync");
    private static final Class<?> LATCH_SYNCHRONIZER = classNamed("java.util.concurrent.CountDownLatch$Sync");
    private static final Class<?> VIRTUAL = classNamed("java.lang.VirtualThread");
    private static final Field termination = VIRTUAL == null ? null : field(VIRTUAL, "termination");
    private static final Field carrier = VIRTUAL == null ? null : field(VIRTUAL, "carrierThread");
    // What a thread executes; where that is depends on the JDK.
    private static final Field target = field(Thread.class, "target");
    private static final Field holder = field(Thread.class, "holder");
    private static final Field heldTask = holder == null ? null : field(holder.getType(), "task");

    /** Who holds what hooks know, by identity of the object or of the synchronizer in it: chains of holders. */
    private final HashMap<Identity, Holder> holders = new HashMap<>();

    private static final class Holder {
        final ScissionThread thread;
        final Holder next;

        Holder(ScissionThread thread, Holder next) {
            this.thread = thread;
            this.next = next;
        }
    }

    /** An object as a key. */
    private static final class Identity {
        final Object object;

        Identity(Object object) {
            this.object = object;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Identity && ((Identity) other).object == object;
        }
    }

    private ScissionWatchdog() {}

    // ------------------------------------------------------------------ threads

    /** A thread has got its state. */
    static synchronized void enter(Thread thread, ScissionThread s) {
        if (s.thread == null) {
            s.thread = new WeakReference<>(thread);
        }
        if (count == threads.length) {
            threads = Arrays.copyOf(threads, count * 2);
        }
        s.listed = count;
        threads[count++] = s;
    }

    /** A thread has ended. */
    static synchronized void leave(ScissionThread s) {
        int at = s.listed;
        if (at >= 0) {
            ScissionThread last = threads[--count];
            threads[count] = null;
            if (last != s) {
                threads[at] = last;
                last.listed = at;
            }
            s.listed = -1;
        }
    }

    private static synchronized ScissionThread[] all() {
        return Arrays.copyOf(threads, count);
    }

    /** Called by the agent once the JVM is up. */
    static void start() {
        if (!IS_AT_WORK) {
            return;
        }
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread thread = new Thread(group, new ScissionWatchdog(), "scission watchdog", 0, false);
        thread.setDaemon(true);
        // It never reports anything of its own, and what it does with classes of the library is not what the program does.
        ScissionThread s = new ScissionThread(0, false);
        s.isOfJvm = true;
        ScissionOrder.enterMode(s, ORDER_QUIET);
        thread.$scission = s;
        thread.start();
    }

    @Override
    public void run() {
        while (true) {
            ScissionNatives.pauseWatchdog();
            try {
                look();
            } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
                ScissionFailures.hooks++;
            }
        }
    }

    // ------------------------------------------------------------------ looking

    private void look() {
        look++;
        ScissionThread[] all = all();
        known = all;
        stuck = all.clone();
        virtualByEnd = null;
        stamps = null;
        pools.begin();
        int found = 0;
        boolean hasMoved = false;
        boolean hasHousekept = false;
        for (ScissionThread s : all) {
            Thread thread = s.thread.get();
            if (thread == null) {
                leave(s);
                continue;
            }
            long epoch = s.epoch;
            if (epoch == s.seenEpoch && waitsForClass(s, thread)) {
                stuck[found++] = s;
                continue;
            }
            if (epoch != s.seenEpoch || !isWaiting(thread)) {
                if (epoch != s.seenEpoch && !ScissionHang.talksToBuild(thread)) {
                    boolean isHousekeeper = ScissionHang.isHousekeeper(thread);
                    hasHousekept |= isHousekeeper;
                    s.movedLook = look;
                    hasMoved |= !isHousekeeper;
                }
                s.seenEpoch = epoch;
                s.stuck = null;
                continue;
            }
            if (s.stuck == null || s.stuck.isForClass) {
                s.stuck = new Stuck();
            }
            stuck[found++] = s;
        }
        stuckCount = found;
        if (found == 0) {
            return;
        }
        // The list holds on to no thread from one look to the next.
        holders.clear();
        for (int i = 0; i < found; i++) {
            ScissionThread s = stuck[i];
            Stuck state = s.stuck;
            if (!state.isForClass && (!state.wantsMonitor || state.looks % LOOKS < ASKED_LOOKS)) {
                wanted(s, state);
            }
            state.looks++;
            // What stops a program that has deadlocked is known.
            hasMoved |= state.isReported;
            state.color = state.isReported ? 2 : 0;
            state.nextCount = 0;
            if (!state.isReported) {
                addHeld(s);
            }
        }
        for (int i = 0; i < found; i++) {
            if (stuck[i].stuck.wanted != null && !stuck[i].stuck.isReported) {
                addEdges(stuck[i]);
            }
        }
        ScissionThread[] path = new ScissionThread[found];
        int[] edge = new int[found];
        boolean hasReported = false;
        for (int i = 0; i < found; i++) {
            hasReported |= search(stuck[i], path, edge);
        }
        for (int i = 0; i < found; i++) {
            hasReported |= searchPool(stuck[i]);
        }
        hasReported |= hang.look(this, all, hasMoved || hasReported, hasHousekept);
        stuck = NOBODY;
        known = NOBODY;
        if (hasReported && EXITS) {
            for (int pauses = 0; pauses < MOST_PAUSES && !ScissionNatives.isReported(); pauses++) {
                ScissionNatives.pauseWatchdog();
            }
            Runtime.getRuntime().halt(DEADLOCK_EXIT_CODE);
        }
    }

    /** Whether a thread waits for the initialisation of a class. It is asked only if it has not moved for some looks. */
    private static boolean waitsForClass(ScissionThread s, Thread thread) {
        if (s.isOfJvm || stateOf(thread) != Thread.State.RUNNABLE) {
            s.runningLooks = 0;
            return false;
        }
        int looks = ++s.runningLooks;
        boolean isKnown = s.stuck != null && s.stuck.isForClass;
        if (!isKnown && (looks < ASKED_LOOKS || looks > LOOKS && looks % LOOKS != 0)) {
            return false;
        }
        Class<?> awaited = ScissionInitialisers.awaited(thread);
        if (awaited == null) {
            return false;
        }
        if (!isKnown || s.stuck.wanted != awaited) {
            s.stuck = new Stuck();
            s.stuck.isForClass = true;
            s.stuck.wanted = awaited;
        }
        return true;
    }

    /** Whether a thread waits without a limit. */
    private static boolean isWaiting(Thread thread) {
        Thread.State state = stateOf(thread);
        return state == Thread.State.BLOCKED || state == Thread.State.WAITING;
    }

    /**
     * The state of a thread; RUNNABLE for all that is neither blocked nor waits without a limit. A class that extends Thread may
     * say anything, and is not asked: the JVM is.
     */
    static Thread.State stateOf(Thread thread) {
        if (thread.getClass().getClassLoader() == null) {
            return thread.getState();
        }
        int state = ScissionNatives.threadState(thread);
        if ((state & JVM_BLOCKED) != 0) {
            return Thread.State.BLOCKED;
        }
        return (state & JVM_WAITING) != 0 ? Thread.State.WAITING : Thread.State.RUNNABLE;
    }

    /** Finds out what a thread waits for. */
    private void wanted(ScissionThread s, Stuck state) {
        state.wanted = null;
        Thread thread = s.thread.get();
        if (thread == null) {
            return;
        }
        state.wantsMonitor = stateOf(thread) == Thread.State.BLOCKED;
        if (state.wantsMonitor) {
            state.wanted = ScissionNatives.contendedMonitor(thread);
            return;
        }
        Object blocker = LockSupport.getBlocker(thread);
        if (blocker != null) {
            Thread ending = blocker.getClass() == LATCH_SYNCHRONIZER ? virtualThatEnds(blocker) : null;
            state.wanted = ending != null ? ending : blocker;
        } else if (s.waiting == 0) {
            // A wait that no hook has seen, on a thread: it waits for its end.
            Object waitedOn = ScissionNatives.contendedMonitor(thread);
            boolean isJoin = waitedOn instanceof Thread && (state.joined == waitedOn || isInJoin(thread));
            if (isJoin) {
                state.joined = (Thread) waitedOn;
            }
            state.wanted = isJoin ? waitedOn : waitedOn == null ? joined(thread, state) : null;
        }
    }

    /** The thread whose end another one waits for, where the JVM does not say on which object a thread waits. */
    private Thread joined(Thread thread, Stuck state) {
        Thread last = state.joined;
        if (last != null || state.looks >= ASKED_LOOKS || stuckCount > MOST_JOINED) {
            return last != null && ScissionNatives.waitsOn(thread, last) ? last : null;
        }
        if (!isInJoin(thread)) {
            return null;
        }
        for (int i = 0; i < stuckCount; i++) {
            Thread other = stuck[i].thread.get();
            if (other != null && other != thread && ScissionNatives.waitsOn(thread, other)) {
                state.joined = other;
                return other;
            }
        }
        return null;
    }

    /** Whether the innermost calls of a thread are a wait in {@code Thread.join}: it waits for an end, and for no notification. */
    private static boolean isInJoin(Thread thread) {
        String calls = ScissionNatives.calls(thread);
        for (String call : calls == null ? new String[0] : calls.split(" ")) {
            if (!call.startsWith("java.lang.Object.wait")) {
                return call.equals("java.lang.Thread.join");
            }
        }
        return false;
    }

    /** The stuck virtual thread whose end this latch tells; null if there is none. */
    private Thread virtualThatEnds(Object synchronizer) {
        if (virtualByEnd == null) {
            virtualByEnd = new HashMap<>();
            for (int i = 0; i < stuckCount; i++) {
                Thread thread = stuck[i].thread.get();
                Object latch = thread != null && ScissionHang.isVirtual(thread) ? value(termination, thread) : null;
                if (latch != null) {
                    virtualByEnd.put(new Identity(value(latchSynchronizer, latch)), thread);
                }
            }
        }
        return virtualByEnd.get(new Identity(synchronizer));
    }

    /** Notes the locks of a thread that does not move. */
    private void addHeld(ScissionThread s) {
        Object[] locks = s.locks;
        int held = Math.min(s.held, locks.length);
        for (int i = 0; i < held; i++) {
            Object lock = locks[i];
            if (lock != null && !isGivenUp(s, i) && (lock instanceof StampedLock ? isStampOwned(lock) : isOwned(lock))) {
                addHolder(lock, s);
                Object synchronizer = synchronizer(lock);
                if (synchronizer != null) {
                    addHolder(synchronizer, s);
                }
            }
        }
    }

    private void addHolder(Object lock, ScissionThread s) {
        Identity key = new Identity(lock);
        Holder known = holders.get(key);
        if (known == null || known.thread != s) {
            holders.put(key, new Holder(s, known));
        }
    }

    /** Whether a lock was given up to wait on it. */
    private static boolean isGivenUp(ScissionThread s, int at) {
        return s.waiting != 0 && s.lockIds[at] == s.waiting;
    }

    /**
     * Whether those who have acquired a lock and not released it hold it. A synchronizer of the program may be anything, a latch say,
     * that others release; and a {@code StampedLock} can be released by others, so that those who are noted must be as many
     * as it says.
     */
    private boolean isOwned(Object lock) {
        if (lock instanceof AbstractOwnableSynchronizer) {
            return false;
        }
        if (!(lock instanceof StampedLock)) {
            return true;
        }
        int[] counts = new int[2];
        for (ScissionThread s : known) {
            for (int i = Math.min(s.held, s.locks.length) - 1; i >= 0; i--) {
                if (s.locks[i] == lock) {
                    countStamp(s, i, counts);
                }
            }
        }
        return agrees((StampedLock) lock, counts);
    }

    /** The same of a {@code StampedLock}, as all threads were when somebody first asked in this look: one of many may be asked about. */
    private boolean isStampOwned(Object lock) {
        if (stamps == null) {
            stamps = new HashMap<>();
            for (ScissionThread s : known) {
                Object[] locks = s.locks;
                for (int i = Math.min(s.held, locks.length) - 1; i >= 0; i--) {
                    Object held = locks[i];
                    if (held instanceof StampedLock) {
                        Identity key = new Identity(held);
                        int[] counts = stamps.get(key);
                        if (counts == null) {
                            counts = new int[2];
                            stamps.put(key, counts);
                        }
                        countStamp(s, i, counts);
                    }
                }
            }
        }
        int[] counts = stamps.get(new Identity(lock));
        return counts != null && agrees((StampedLock) lock, counts);
    }

    private static void countStamp(ScissionThread s, int at, int[] counts) {
        counts[0] += s.lockIds[at] < 0 ? s.holds[at] : 0;
        counts[1] += s.lockIds[at] < 0 ? 0 : 1;
    }

    private static boolean agrees(StampedLock lock, int[] counts) {
        return counts[0] == lock.getReadLockCount() && counts[1] == (lock.isWriteLocked() ? 1 : 0);
    }

    /** Where among its locks a thread has what another one wants; -1 if hooks do not know it. */
    private int heldAt(ScissionThread s, Object wanted) {
        for (int i = s.held - 1; i >= 0; i--) {
            Object lock = s.locks[i];
            if (lock != null && !isGivenUp(s, i) && (lock == wanted || synchronizer(lock) == wanted) && isOwned(lock)) {
                return i;
            }
        }
        return -1;
    }

    /** Adds the threads that a stuck thread waits for, as far as they are stuck themselves. */
    private void addEdges(ScissionThread s) {
        Stuck state = s.stuck;
        if (state.isForClass) {
            addEdge(state, ScissionInitialisers.initialising(s, stuck, stuckCount));
            return;
        }
        Thread owner = owner(state);
        if (owner != null) {
            // Who waits for its own end waits on purpose: for a signal, say.
            if (owner.$scission != s || !(state.wanted instanceof Thread)) {
                addEdge(state, owner.$scission);
            }
            return;
        }
        for (Holder holder = holders.get(new Identity(state.wanted)); holder != null; holder = holder.next) {
            addEdge(state, holder.thread);
        }
    }

    private static void addEdge(Stuck state, ScissionThread to) {
        if (to != null && to.stuck != null && !to.stuck.isReported) {
            if (state.nextCount == state.next.length) {
                state.next = Arrays.copyOf(state.next, Math.max(2, state.nextCount * 2));
            }
            state.next[state.nextCount++] = to;
        }
    }

    /** The pools whose threads are stuck, each once. */
    ArrayList<ThreadPoolExecutor> poolsOfStuck(ScissionPools pools) {
        ArrayList<ThreadPoolExecutor> all = new ArrayList<>();
        for (int i = 0; i < stuckCount; i++) {
            Thread thread = stuck[i].thread.get();
            ThreadPoolExecutor pool = thread == null || ScissionHang.isVirtual(thread) ? null : pools.poolOf(thread);
            if (pool != null && !all.contains(pool)) {
                all.add(pool);
            }
        }
        return all;
    }

    /** Whether a thread has moved in one of the last looks. */
    boolean hasMoved(ScissionThread s, int looks) {
        return s != null && s.movedLook > look - looks;
    }

    /** Whether a thread waits for a class that a thread initialises which is stuck as well. */
    boolean waitsForClassOfStuck(ScissionThread s) {
        return s != null && s.stuck != null && s.stuck.isForClass
            && ScissionInitialisers.initialising(s, stuck, stuckCount) != null;
    }

    /** The threads of which one at least must move before this one can; null if they are not known. */
    ScissionThread[] awaited(ScissionThread s) {
        if (s.stuck.isForClass) {
            ScissionThread initialising = ScissionInitialisers.initialising(s, stuck, stuckCount);
            return initialising == null ? null : new ScissionThread[] {initialising};
        }
        Thread owner = owner(s.stuck);
        if (owner != null) {
            return new ScissionThread[] {owner.$scission};
        }
        Holder holder = s.stuck.wanted == null ? null : holders.get(new Identity(s.stuck.wanted));
        // Of several holders each must move, so that one of them says enough.
        return holder == null || heldAt(holder.thread, s.stuck.wanted) < 0 ? null : new ScissionThread[] {holder.thread};
    }

    /** The thread that holds the lock which another one waits for; null if that is not known, or it waits for something else. */
    Thread lockOwner(Thread thread) {
        ScissionThread s = thread.$scission;
        Object wanted = s == null || s.stuck == null || s.stuck.isForClass ? null : s.stuck.wanted;
        if (wanted == null || !s.stuck.wantsMonitor && !(wanted instanceof AbstractOwnableSynchronizer)) {
            return null;
        }
        Thread owner = owner(s.stuck);
        Holder holder = owner != null ? null : holders.get(new Identity(wanted));
        return holder == null || heldAt(holder.thread, wanted) < 0 ? owner : holder.thread.thread.get();
    }

    /** The number of the lock of the library that a thread is parked for and another one holds; 0 if there is none. */
    long wantedLock(ScissionThread s) {
        Object wanted = s.stuck == null || s.stuck.wantsMonitor ? null : s.stuck.wanted;
        Holder holder = wanted == null ? null : holders.get(new Identity(wanted));
        int at = holder == null ? -1 : heldAt(holder.thread, wanted);
        long id = at < 0 ? 0 : holder.thread.lockIds[at];
        return id < 0 ? ~id : id;
    }

    /** The one thread that must move before this one can; null if that is not known. */
    Thread owner(Stuck state) {
        Object wanted = state.wanted;
        if (state.wantsMonitor) {
            return ScissionNatives.monitorOwner(wanted);
        }
        if (wanted instanceof Thread) {
            return (Thread) wanted;
        }
        if (wanted instanceof AbstractOwnableSynchronizer) {
            return (Thread) value(exclusiveOwner, wanted);
        }
        return wanted instanceof FutureTask ? (Thread) value(runner, wanted) : null;
    }

    // ------------------------------------------------------------------ cycles

    /** Looks for cycles, beginning with a thread. Whether one was reported. */
    private boolean search(ScissionThread start, ScissionThread[] path, int[] edge) {
        if (start.stuck.color != 0) {
            return false;
        }
        boolean hasReported = false;
        int depth = 0;
        path[0] = start;
        edge[0] = 0;
        start.stuck.color = 1;
        while (depth >= 0) {
            Stuck state = path[depth].stuck;
            if (edge[depth] == state.nextCount) {
                state.color = 2;
                depth--;
                continue;
            }
            ScissionThread next = state.next[edge[depth]++];
            if (next.stuck.color == 0) {
                next.stuck.color = 1;
                path[++depth] = next;
                edge[depth] = 0;
            } else if (next.stuck.color == 1) {
                int from = depth;
                while (path[from] != next) {
                    from--;
                }
                hasReported |= judge(Arrays.copyOfRange(path, from, depth + 1));
            }
        }
        return hasReported;
    }

    /** Reports a cycle if it was seen in the last look too. */
    private boolean judge(ScissionThread[] cycle) {
        boolean wasSeen = true;
        for (int reading = 0; reading < READINGS; reading++) {
            if (!isStill(cycle)) {
                return false;
            }
        }
        for (int i = 0; i < cycle.length; i++) {
            Stuck state = cycle[i].stuck;
            ScissionThread next = cycle[(i + 1) % cycle.length];
            wasSeen &= state.suspectedNext == next && state.suspectedLook == look - 1;
            state.suspectedNext = next;
            state.suspectedLook = look;
        }
        if (wasSeen) {
            report(cycle);
        }
        return wasSeen;
    }

    /** Whether the threads of a cycle are where they were, and wait for each other. */
    private boolean isStill(ScissionThread[] cycle) {
        for (int i = 0; i < cycle.length; i++) {
            if (!isWhereItWas(cycle[i])) {
                return false;
            }
        }
        for (int i = 0; i < cycle.length; i++) {
            ScissionThread next = cycle[(i + 1) % cycle.length];
            Stuck state = cycle[i].stuck;
            if (state.isForClass) {
                if (ScissionInitialisers.initialising(cycle[i], cycle, cycle.length) != next) {
                    return false;
                }
                continue;
            }
            Thread owner = owner(state);
            if (owner != null ? owner.$scission != next : heldAt(next, state.wanted) < 0) {
                return false;
            }
        }
        for (int i = 0; i < cycle.length; i++) {
            if (!isWhereItWas(cycle[i])) {
                return false;
            }
        }
        return true;
    }

    private boolean isWhereItWas(ScissionThread s) {
        Thread thread = s.thread.get();
        Object wanted = s.stuck.wanted;
        boolean wantsMonitor = s.stuck.wantsMonitor;
        if (thread != null && s.stuck.isForClass) {
            s.stuck.calls = null;
            return s.epoch == s.seenEpoch && ScissionInitialisers.awaited(thread) == wanted;
        }
        if (thread == null || !isWaiting(thread)) {
            return false;
        }
        wanted(s, s.stuck);
        return s.epoch == s.seenEpoch && s.stuck.wanted == wanted && s.stuck.wantsMonitor == wantsMonitor;
    }

    /** Reports the pool of a thread if its threads wait for its tasks and for each other, as in the last look. */
    private boolean searchPool(ScissionThread s) {
        Thread thread = s.thread.get();
        if (thread == null || s.stuck.isReported || s.stuck.wanted == null && !s.stuck.isForClass) {
            return false;
        }
        ThreadPoolExecutor pool = ScissionHang.isVirtual(thread) ? null : pools.poolOf(thread);
        ScissionThread[] starved = pool == null ? null : pools.starved(s, this);
        for (int reading = 0; starved != null && reading < READINGS; reading++) {
            for (ScissionThread of : starved) {
                if (!isWhereItWas(of)) {
                    return false;
                }
            }
            ScissionThread[] again = pools.starved(s, this);
            if (!Arrays.equals(starved, again)) {
                return false;
            }
        }
        if (starved == null) {
            return false;
        }
        boolean wasSeen = s.stuck.starvedPool == pool && s.stuck.starvedLook == look - 1;
        s.stuck.starvedPool = pool;
        s.stuck.starvedLook = look;
        if (wasSeen) {
            Object[] of = pools.ofStarved();
            for (ScissionThread one : starved) {
                Thread waiting = one.thread.get();
                if (waiting != null) {
                    reportHeld(one, waiting);
                }
            }
            for (ScissionThread one : starved) {
                one.stuck.isReported = true;
                Thread waiting = one.thread.get();
                if (waiting != null) {
                    ScissionHang.stalled(this, one, waiting);
                }
            }
            for (Object each : of) {
                ScissionEvents.onBehalf(s, EVENT_STARVED, 0, id(s, each), 0);
            }
        }
        return wasSeen;
    }

    /** Reports all locks of a thread that does not move. */
    void reportHeld(ScissionThread s, Thread thread) {
        int held = Math.min(s.held, s.locks.length);
        for (int i = 0; i < held; i++) {
            long id = s.lockIds[i];
            Object synchronizer = id < 0 || s.locks[i] == null ? null : synchronizer(s.locks[i]);
            // Who waits for a condition of a lock does not hold it, whether hooks know that or not.
            boolean isOther = synchronizer != null && value(exclusiveOwner, synchronizer) != thread;
            if (!isGivenUp(s, i) && !isOther) {
                ScissionEvents.onBehalf(s, EVENT_HOLDS, s.lockSites[i], id < 0 ? ~id : id, 0);
            }
        }
    }

    /** Reports what the threads of a cycle hold, and then what they want. */
    private void report(ScissionThread[] cycle) {
        long[] ids = new long[cycle.length];
        for (int i = 0; i < cycle.length; i++) {
            ScissionThread next = cycle[(i + 1) % cycle.length];
            Object wanted = cycle[i].stuck.wanted;
            if (wanted instanceof Thread && !cycle[i].stuck.wantsMonitor) {
                continue;
            }
            if (cycle[i].stuck.isForClass || wanted instanceof FutureTask) {
                // A class has no number, and that of a task may be one of all tasks with the same body.
                ids[i] = cycle[i].stuck.isForClass
                    ? freshId(cycle[i], "initialiser of " + simpleName((Class<?>) wanted))
                    : freshId(cycle[i], simpleName(wanted.getClass()));
                ScissionEvents.onBehalf(next, EVENT_HOLDS, site(next), ids[i], 0);
                continue;
            }
            int at = heldAt(next, wanted);
            ids[i] = at < 0 ? id(next, wanted) : next.lockIds[at] < 0 ? ~next.lockIds[at] : next.lockIds[at];
            int site = at < 0 ? site(next) : next.lockSites[at];
            ScissionEvents.onBehalf(next, EVENT_HOLDS, site, ids[i], 0);
        }
        for (int i = 0; i < cycle.length; i++) {
            ScissionThread s = cycle[i];
            s.stuck.isReported = true;
            if (ids[i] != 0) {
                ScissionEvents.onBehalf(s, EVENT_BLOCKED, site(s), ids[i], 0);
            } else {
                ScissionEvents.onBehalf(s, EVENT_BLOCKED_BY_THREAD, site(s), cycle[(i + 1) % cycle.length].number, 0);
            }
        }
    }

    /** A number for something that has none of its own, which is called by this name. */
    private static long freshId(ScissionThread s, String name) {
        long fresh = U.getAndAddLong(null, NEXT_OBJECT, 1);
        ScissionEvents.onBehalf(s, EVENT_ESCAPE, 0, fresh, ScissionNatives.classNumber(name));
        return fresh;
    }

    private static String simpleName(Class<?> type) {
        String name = type.getName();
        return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
    }

    private static int site(ScissionThread s) {
        Thread thread = s.thread.get();
        return thread == null ? 0 : ScissionNatives.currentSite(thread, s.number);
    }

    /** The number of an object; it gets one, on behalf of a thread that is blocked, when it has none. */
    static long id(ScissionThread s, Object object) {
        ScissionShapes.Shape shape = ScissionShapes.of(object.getClass());
        long offset = shape.idOffset;
        long id = offset == 0 ? 0 : U.getLong(object, offset);
        ScissionObjects.Entry entry = offset == 0 ? ScissionObjects.find(object) : null;
        if (id != 0 || entry != null) {
            return id != 0 ? id : entry.id;
        }
        long fresh = U.getAndAddLong(null, NEXT_OBJECT, 1);
        id = offset == 0 ? ScissionObjects.add(object, fresh).id : U.compareAndExchangeLong(object, offset, 0, fresh);
        if (id == 0 || id == fresh) {
            ScissionEvents.onBehalf(s, EVENT_ESCAPE, 0, fresh, shape.number);
            return fresh;
        }
        return id;
    }

    // ------------------------------------------------------------------ fields of the library

    /** The object in a lock that threads are parked for; null if the lock has none. */
    private Object synchronizer(Object lock) {
        Class<?> type = lock.getClass();
        if (!synchronizers.containsKey(type)) {
            synchronizers.put(type, synchronizerField(type));
        }
        Field field = synchronizers.get(type);
        return field == null ? null : value(field, lock);
    }

    private static Field synchronizerField(Class<?> type) {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            // A class of the program may have any number of them.
            if (c.getClassLoader() == null) {
                for (Field field : c.getDeclaredFields()) {
                    if (AbstractOwnableSynchronizer.class.isAssignableFrom(field.getType())) {
                        field.setAccessible(true);
                        return field;
                    }
                }
            }
        }
        return null;
    }

    private static Class<?> classNamed(String name) {
        try {
            return Class.forName(name, false, null);
        } catch (ClassNotFoundException unknown) {
            return null;
        }
    }

    /** What a thread executes, if it was given something to execute. */
    static Object task(Thread thread) {
        Object held = target == null && holder != null ? value(holder, thread) : null;
        return target != null ? value(target, thread) : held == null ? null : value(heldTask, held);
    }

    /** What a virtual thread runs on; null if it does not. */
    static Object carrier(Thread thread) {
        return value(carrier, thread);
    }

    static Object staticValue(Class<?> type, String name) {
        Field field = field(type, name);
        return field == null ? null : value(field, null);
    }

    static Field field(Class<?> type, String name) {
        try {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException unknown) {
            return null;
        }
    }

    static Object value(Field field, Object object) {
        try {
            return field == null ? null : field.get(object);
        } catch (ReflectiveOperationException unknown) {
            return null;
        }
    }
}
