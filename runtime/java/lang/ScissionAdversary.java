package java.lang;

import static java.lang.ScissionProtocol.*;

import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jdk.internal.misc.Unsafe;

/**
 * The adversary: it holds a thread back before an operation that could complete a violation, so that a
 * conflicting step of another thread can come in between.
 *
 * <p>Implements "Adversarial Scheduling" of section 5 of the paper on Velodrome. Property: the schedule of a run in
 * which threads are held is one that the JVM could have chosen. So nothing is reported that did not happen;
 * what no hold provokes is missed, and what waits with a time limit may see it expire.
 *
 * <p><b>Where.</b> The agent sets a byte for each site that a checker suspects: how often threads may still
 * be held there. A thread is held only inside an atomic block, since only a block can be split. A
 * synchronized method has its lock before its first hook runs; so when such a method is suspected, the call
 * that led to it is, and the next thread that comes to that call is held before it.
 *
 * <p><b>How long.</b> A hold is made of slices. It ends when its time is over, which is between half and all
 * of what was asked for; when another thread has written the variable meanwhile; when the budget of the run
 * is spent; when the JVM shuts down; and when nothing else can run. Of several threads that are held while
 * nothing else can run, the one that was held first goes on.
 *
 * <p><b>Chance.</b> The first thread that comes to a suspicious place is held, and of the following ones three
 * in four: threads that are always held at the same place may walk in step for ever. The random numbers of each
 * thread follow from the seed of the run and the number of the thread alone, so that a run with the same seed
 * differs only where the JVM lets threads come in another order.
 *
 * <p><b>What is never done.</b> No lock is taken while a thread is held, no other thread is waited for, and the
 * interrupted status is left alone: a slice is slept in native code. Threads of the JVM itself are not held.
 *
 * <p><b>Deviations</b> from the paper, with the reason:
 * <ol>
 * <li>The paper holds for a fixed time whenever the Atomizer warns. Here holds end early and have budgets: a
 *     suspicious place in a loop would otherwise keep the program from its work.
 * <li>A place is known to be suspicious only when the Atomizer, which runs behind the program, has seen it once:
 *     what happens once in a run is not held.
 * <li>The paper holds at every suspicious operation; chance leaves some out here, so that threads do not walk in
 *     step.
 * <li>Synchronized methods are not rewritten, so that threads are held before the calls of them.
 * </ol>
 */
final class ScissionAdversary {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Whether threads are held back at all. */
    static final boolean IS_AT_WORK = ScissionNatives.configuration(WORD_ADVERSARIAL) != 0;
    /**
     * How often threads may still be held at a site: 0 where nothing is suspected, -1 for no more. Who looks without the
     * lock may see it late, and is then not held, or decides under the lock.
     */
    private static final long SUSPECTS = ScissionNatives.configuration(WORD_SUSPECTS);
    /** Where the holds, and their slices, are counted. */
    private static final long HOLDS = ScissionNatives.configuration(WORD_HOLDS);
    private static final long SLICES = ScissionNatives.configuration(WORD_SLICES);
    private static final long SEED = ScissionNatives.configuration(WORD_SEED);
    /** How many slices a hold has at most. */
    private static final int LONGEST = (int) ScissionNatives.configuration(WORD_HOLD_FOR);
    private static final byte HOLDS_PER_SITE = (byte) ScissionNatives.configuration(WORD_HOLDS_PER_SITE);
    /** How many slices all holds of the run may have together. */
    private static final long BUDGET = ScissionNatives.configuration(WORD_HOLD_BUDGET);

    private static final byte NO_MORE = -1;
    /** How often in a row nothing else must have been able to run. */
    private static final int LOOKS = 2;

    /** The threads that have shown themselves and have not ended. */
    private static final Set<ScissionThread> THREADS = ConcurrentHashMap.newKeySet();

    /** What {@code ApplicationShutdownHooks} has as long as the JVM does not shut down. */
    private static final Field HOOKS = IS_AT_WORK ? hooks() : null;

    private ScissionAdversary() {}

    private static Field hooks() {
        try {
            Field hooks = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks");
            hooks.setAccessible(true);
            // The first look loads what all others need.
            hooks.get(null);
            return hooks;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError unknown) {
            return null;
        }
    }

    /** A thread has shown itself. */
    static void enter(Thread thread, ScissionThread s) {
        s.thread = new WeakReference<>(thread);
        s.random = SEED + s.number * 0x9e3779b97f4a7c15L;
        THREADS.add(s);
    }

    /** A thread has ended. */
    static void leave(ScissionThread s) {
        THREADS.remove(s);
    }

    static boolean isSuspect(int site) {
        return U.getByte(SUSPECTS + (site & SITES - 1)) > 0;
    }

    /**
     * A synchronized method has begun that is suspected: from now on, the call that led to it is.
     */
    static void suspectCall(ScissionThread s) {
        int site = s.lastCall;
        if (site != 0 && U.getByte(SUSPECTS + (site & SITES - 1)) == 0) {
            suspect(site);
        }
    }

    private static synchronized void suspect(int site) {
        if (U.getByte(SUSPECTS + (site & SITES - 1)) == 0) {
            U.putByte(SUSPECTS + (site & SITES - 1), HOLDS_PER_SITE);
        }
    }

    /**
     * Holds the thread before the operation at a suspicious site, if chance and the budgets allow it. The
     * address is that of the word of the last write of the variable, 0 if there is none.
     */
    static void hold(ScissionThread s, Object base, long w, int site) {
        if (s.depth == 0 || s.isOfJvm) {
            return;
        }
        long chance = nextRandom(s);
        if (isShuttingDown() || !take(s, chance, site)) {
            return;
        }
        int slices = LONGEST - (int) ((chance >>> 32) % (LONGEST / 2 + 1));
        long write = w == 0 ? 0 : U.getLongVolatile(base, w);
        int idle = 0;
        try {
            for (int slept = 0; slept < slices && idle < LOOKS; slept++) {
                if (U.getAndAddLong(null, SLICES, 1) >= BUDGET) {
                    U.getAndAddLong(null, SLICES, -1);
                    break;
                }
                ScissionNatives.slice();
                if (w != 0 && U.getLongVolatile(base, w) != write || isShuttingDown()) {
                    break;
                }
                idle = canOthersRun(s) ? 0 : idle + 1;
            }
        } finally {
            s.heldSince = 0;
        }
    }

    /** Decides whether a thread is held, and takes the hold off the budget of the site. */
    private static synchronized boolean take(ScissionThread s, long chance, int site) {
        byte left = U.getByte(SUSPECTS + (site & SITES - 1));
        boolean isFirst = left == HOLDS_PER_SITE;
        if (left <= 0 || !isFirst && (chance & 3) == 0 || U.getLongVolatile(null, SLICES) >= BUDGET) {
            return false;
        }
        U.putByte(SUSPECTS + (site & SITES - 1), left == 1 ? NO_MORE : (byte) (left - 1));
        s.heldSince = U.getAndAddLong(null, HOLDS, 1) + 1;
        return true;
    }

    /** The next number of the thread: SplitMix64. */
    private static long nextRandom(ScissionThread s) {
        s.random += 0x9e3779b97f4a7c15L;
        long z = s.random;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    /** Whether some other thread runs or will run by itself, or is held and will go on before this one. */
    private static boolean canOthersRun(ScissionThread s) {
        for (ScissionThread other : THREADS) {
            long since = other.heldSince;
            if (other == s || since > s.heldSince) {
                continue;
            }
            if (since != 0) {
                return true;
            }
            Thread thread = other.thread.get();
            if (thread != null && ScissionNatives.canRun(thread)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isShuttingDown() {
        try {
            return HOOKS != null && HOOKS.get(null) == null;
        } catch (IllegalAccessException impossible) {
            return false;
        }
    }
}
