package java.lang;

import static java.lang.ScissionEpochs.beginEpoch;
import static java.lang.ScissionEvents.emit;
import static java.lang.ScissionProtocol.*;

import java.util.Arrays;

/**
 * The locks that threads hold.
 *
 * <p>A thread keeps what it holds in arrays that act as a stack. They are whole between any two calls, so that an error
 * that cuts a hook short, a stack overflow above all, leaves a lock either held and reported or neither.
 */
final class ScissionLocks {
    /** Added to the number of a name to make that of a lock. */
    private static final long UNNAMED_CLASSES = 1L << 62;

    private ScissionLocks() {}

    /** A monitor is about to be entered: its number is taken while it is free. */
    static void prepare(ScissionThread s, Object object) {
        s.prepared = null;
        s.preparedId = lockId(s, object);
        s.prepared = object;
    }

    /** The monitor that was prepared has been entered. */
    static void entered(ScissionThread s, int site) {
        Object object = s.prepared;
        s.prepared = null;
        if (object != null) {
            acquire(s, object, s.preparedId, site);
            ScissionOrder.acquireMonitorOfLibrary(object);
        }
    }

    /** A synchronized method has begun; it has no object where it is static and its class cannot be named. */
    static void enterMethod(ScissionThread s, Object object, int site) {
        int index = s.methods;
        if (index == s.methodLocks.length) {
            long[] locks = Arrays.copyOf(s.methodLocks, index * 2);
            s.methodSites = Arrays.copyOf(s.methodSites, index * 2);
            s.methodLocks = locks;
        }
        s.methodLocks[index] = 0;
        s.methodSites[index] = site;
        s.methods = index + 1;
        long id = object == null ? UNNAMED_CLASSES | ScissionNatives.classOfSite(site) : lockId(s, object);
        acquire(s, object, id, site);
        if (object != null) {
            ScissionOrder.acquireMonitorOfLibrary(object);
        }
        s.methodLocks[index] = id;
        if (ScissionAdversary.IS_AT_WORK && ScissionAdversary.isSuspect(site)) {
            ScissionAdversary.suspectCall(s);
        }
    }

    /** The synchronized method that began at this site ends, and those inside it that an error has cut short. */
    static void leaveMethod(ScissionThread s, int site) {
        int index = s.methods - 1;
        while (index >= 0 && s.methodSites[index] != site) {
            index--;
        }
        if (index < 0) {
            return;
        }
        while (s.methods > index) {
            long id = s.methodLocks[--s.methods];
            if (id != 0) {
                release(s, findHeld(s, id), site);
            }
        }
    }

    /** The number of an object as a lock. */
    static long lockId(ScissionThread s, Object object) {
        // What is held already need not be looked up: a locked object does so slowly.
        int at = findHeld(s, object);
        return at >= 0 ? s.lockIds[at] : ScissionObjects.id(s, object);
    }

    /** Where among the held locks an object is; -1 if it is not. */
    static int findHeld(ScissionThread s, Object object) {
        int at = s.held - 1;
        while (at >= 0 && s.locks[at] != object) {
            at--;
        }
        return at;
    }

    /** Where among the held locks the one with a number is; -1 if it is not. */
    static int findHeld(ScissionThread s, long id) {
        int at = s.held - 1;
        while (at >= 0 && s.lockIds[at] != id) {
            at--;
        }
        return at;
    }

    /** A lock is held now. Locks that are held shared have complemented numbers. */
    static void acquire(ScissionThread s, Object object, long id, int site) {
        int at = findHeld(s, id);
        if (at >= 0) {
            s.holds[at]++;
            return;
        }
        if (s.isOptimistic) {
            ScissionEpochs.readOptimistically(s, false);
        }
        at = s.held;
        if (at == s.locks.length) {
            Object[] locks = Arrays.copyOf(s.locks, at * 2);
            long[] ids = Arrays.copyOf(s.lockIds, at * 2);
            s.holds = Arrays.copyOf(s.holds, at * 2);
            s.lockSites = Arrays.copyOf(s.lockSites, at * 2);
            s.lockIds = ids;
            s.locks = locks;
        }
        s.locks[at] = object;
        s.lockIds[at] = id;
        s.lockSites[at] = site;
        s.holds[at] = 1;
        s.held = at + 1;
        try {
            if (s.depth == 0 && ScissionSites.beginsBlock(site)) {
                ScissionBlocks.beginRegion(s, id, site);
            }
            beginEpoch(s);
            emit(s, id < 0 ? EVENT_ACQUIRE_SHARED : EVENT_ACQUIRE, site, id < 0 ? ~id : id, 0);
        } catch (RuntimeException | VirtualMachineError problem) {
            // What was not reported is not given back either.
            s.held = at;
            s.locks[at] = null;
            ScissionBlocks.endRegion(s, id);
            throw problem;
        }
    }

    /** The lock that was just acquired would not have been waited for without end. */
    static void tried(ScissionThread s, Object object, int site) {
        int last = s.held - 1;
        if (last > 0 && s.locks[last] == object && s.holds[last] == 1) {
            long id = s.lockIds[last];
            emit(s, EVENT_TRIED, site, id < 0 ? ~id : id, 0);
        }
    }

    /** The lock at this place is given back once; nothing happens if the place is -1. */
    static void release(ScissionThread s, int at, int site) {
        if (at < 0 || --s.holds[at] > 0) {
            return;
        }
        long id = s.lockIds[at];
        ScissionOrder.releaseMonitorOfLibrary(s.locks[at]);
        int last = s.held - 1;
        for (int i = at; i < last; i++) {
            s.locks[i] = s.locks[i + 1];
            s.lockIds[i] = s.lockIds[i + 1];
            s.holds[i] = s.holds[i + 1];
            s.lockSites[i] = s.lockSites[i + 1];
        }
        s.locks[last] = null;
        s.held = last;
        emit(s, id < 0 ? EVENT_RELEASE_SHARED : EVENT_RELEASE, site, id < 0 ? ~id : id, 0);
        beginEpoch(s);
        ScissionBlocks.endRegion(s, id);
    }

    /** The lock is about to be given back to wait. */
    static void waits(ScissionThread s, Object object, int site) {
        long id = ScissionObjects.id(s, object);
        if (findHeld(s, id) >= 0) {
            ScissionOrder.releaseMonitorOfLibrary(object);
            emit(s, EVENT_WAIT, site, id, 0);
            beginEpoch(s);
            s.waiting = id;
            s.waitingSite = site;
        }
    }

    /** The wait is over. */
    static void woken(ScissionThread s) {
        long id = s.waiting;
        if (id != 0) {
            s.waiting = 0;
            beginEpoch(s);
            emit(s, EVENT_WOKEN, s.waitingSite, id, 0);
            int at = findHeld(s, id);
            if (at >= 0) {
                ScissionOrder.acquireMonitorOfLibrary(s.locks[at]);
            }
        }
    }
}
