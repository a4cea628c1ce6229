package java.lang;

import static java.lang.ScissionEpochs.beginEpoch;
import static java.lang.ScissionEvents.emit;
import static java.lang.ScissionEvents.emitSince;
import static java.lang.ScissionObjects.id;
import static java.lang.ScissionProtocol.*;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Collection;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** What calls of the library do. Nothing here calls a method that a class of the program may override. */
final class ScissionCalls {
    /** How many views are looked through to find the elements of a collection. */
    private static final int MOST_VIEWS = 4;

    private ScissionCalls() {}

    /** Something that a library call does to an operand, which is not null. */
    static void call(ScissionThread s, Object operand, int op, int site) {
        // What is done here with classes of the library is not what the program does.
        ScissionOrder.enterMode(s, ORDER_QUIET);
        try {
            report(s, operand, op, site);
        } finally {
            ScissionOrder.leaveMode(s);
        }
    }

    private static void report(ScissionThread s, Object operand, int op, int site) {
        switch (op) {
            case OP_ACQUIRE:
                if (isLock(operand)) {
                    ScissionLocks.acquire(s, operand, lockOf(s, operand), site);
                }
                break;
            case OP_ACQUIRE_SHARED:
                ScissionLocks.acquire(s, operand, ~id(s, operand), site);
                break;
            case OP_RELEASE:
                if (isLock(operand)) {
                    long lock = lockOf(s, operand);
                    int at = ScissionLocks.findHeld(s, lock);
                    ScissionLocks.release(s, at >= 0 ? at : ScissionLocks.findHeld(s, ~lock), site);
                }
                break;
            case OP_RELEASE_SHARED:
                ScissionLocks.release(s, ScissionLocks.findHeld(s, ~id(s, operand)), site);
                break;
            case OP_ACQUIRE_MODELLED:
                ScissionLocks.acquire(s, operand, id(s, operand), site);
                break;
            case OP_RELEASE_MODELLED:
                ScissionLocks.release(s, ScissionLocks.findHeld(s, id(s, operand)), site);
                break;
            case OP_WAIT:
                ScissionLocks.waits(s, operand, site);
                break;
            case OP_WOKEN:
                ScissionLocks.woken(s);
                break;
            case OP_NOTIFY:
                publish(s, EVENT_NOTIFY, operand, site);
                break;
            case OP_NOTIFY_ALL:
                publish(s, EVENT_NOTIFY_ALL, operand, site);
                break;
            case OP_FORK:
                if (operand instanceof Thread) {
                    fork(s, (Thread) operand, site);
                }
                break;
            case OP_JOIN:
                if (operand instanceof Thread) {
                    join(s, (Thread) operand, site);
                }
                break;
            case OP_SUBMIT:
                ScissionTasks.submit(s, operand, site);
                break;
            case OP_SUBMIT_MODELLED:
                ScissionTasks.submitModelled(s, operand, site);
                break;
            case OP_TASK_JOIN:
                ScissionTasks.join(s, each(operand), site);
                break;
            case OP_TASK_JOIN_MODELLED:
                ScissionTasks.join(s, each(operand), site);
                receive(s, EVENT_RECEIVE, operand, site);
                break;
            case OP_PUBLISH:
                publish(s, EVENT_PUBLISH, operand, site);
                break;
            case OP_RECEIVE:
                receive(s, EVENT_RECEIVE, operand, site);
                break;
            case OP_ATOMIC_READ:
                contents(s, EVENT_VOLATILE_READ, operand, site);
                break;
            case OP_ATOMIC_WRITE:
                contents(s, EVENT_VOLATILE_WRITE, operand, site);
                break;
            case OP_ATOMIC_UPDATE:
                contents(s, EVENT_ATOMIC_UPDATE, operand, site);
                break;
            case OP_ATOMIC_ADD:
                contents(s, EVENT_ATOMIC_ADD, operand, site);
                break;
            case OP_ATOMIC_SWAP:
                contents(s, EVENT_ATOMIC_SWAP, operand, site);
                break;
            case OP_BEGIN_OPTIMISTIC:
                ScissionEpochs.readOptimistically(s, true);
                break;
            case OP_END_OPTIMISTIC:
                ScissionEpochs.readOptimistically(s, false);
                break;
            case OP_CONTENTS_READ:
                ScissionAccesses.report(s, EVENT_READ, site, id(s, operand), OF_CONTENTS);
                break;
            case OP_CONTENTS_WRITE:
                ScissionAccesses.report(s, EVENT_WRITE, site, id(s, operand), OF_CONTENTS);
                break;
            case OP_ARRIVE:
                publish(s, EVENT_BARRIER_ARRIVE, operand, site);
                break;
            case OP_PASS:
                receive(s, EVENT_BARRIER_PASS, operand, site);
                break;
            case OP_COUNT_DOWN:
                publish(s, EVENT_LATCH_DOWN, operand, site);
                break;
            case OP_LATCH_PASS:
                receive(s, EVENT_LATCH_PASS, operand, site);
                break;
            case OP_SUBMIT_ALL:
                for (Object task : each(operand)) {
                    ScissionTasks.submit(s, task, site);
                }
                break;
            case OP_SUBMITTED_TO:
                ScissionTasks.submittedTo(s, operand);
                break;
            case OP_COLLECTION_READ:
                ScissionContents.read(s, operand, site);
                break;
            case OP_COLLECTION_WRITE:
                ScissionContents.write(s, operand, site);
                break;
            case OP_SUPER_READ:
                ScissionContents.readBySuper(s, operand, site);
                break;
            case OP_SUPER_WRITE:
                ScissionContents.writeBySuper(s, operand, site);
                break;
            case OP_SUBMITTED_AFTER:
                ScissionTasks.submittedAfter(s, operand);
                break;
            case OP_GATHER:
                s.gathered = each(operand);
                break;
            case OP_GATHERED:
                ScissionTasks.gathered(s, operand);
                break;
            case OP_STREAM_STEP:
                ScissionTasks.streamStep(operand);
                break;
            case OP_STREAM_BEGIN:
                ScissionTasks.streamBegin(s, operand, site);
                break;
            case OP_STREAM_END:
                ScissionTasks.streamEnd(s, operand, site);
                break;
            case OP_KEY:
            case OP_CONCURRENT_KEY:
                s.keySite = site;
                s.key = ScissionKeys.number(s, operand);
                break;
            case OP_CONCURRENT_READ:
                if (ScissionContents.isConcurrent(s, operand, site)) {
                    contents(s, EVENT_VOLATILE_READ, operand, site);
                }
                break;
            case OP_CONCURRENT_UPDATE:
                if (ScissionContents.isConcurrent(s, operand, site)) {
                    contents(s, EVENT_ATOMIC_UPDATE, operand, site);
                }
                break;
            default:
                break;
        }
    }

    /** The first object is a view of the second: they have one number. */
    static void alias(ScissionThread s, Object view, Object of) {
        if (ScissionObjects.find(view) == null && ScissionShapes.of(view.getClass()).idOffset == 0) {
            ScissionObjects.add(view, ScissionTasks.taskId(s, of));
        }
    }

    static void publish(ScissionThread s, int kind, Object object, int site) {
        emit(s, kind, site, id(s, object), 0);
        beginEpoch(s);
    }

    static void receive(ScissionThread s, int kind, Object object, int site) {
        long id = id(s, object);
        beginEpoch(s);
        emit(s, kind, site, id, 0);
    }

    /**
     * A call was a step of an atomic or a concurrent collection: of the entry with the key that was told at this site, or
     * of the object as a whole. It happened after {@code s.since} and is over.
     */
    private static void contents(ScissionThread s, int kind, Object object, int site) {
        long variable = OF_CONTENTS;
        if (s.keySite == site) {
            s.keySite = 0;
            if (s.key == ScissionKeys.UNKNOWN) {
                return;
            }
            variable = OF_ELEMENT | s.key;
        }
        if (s.muted > 0) {
            return;
        }
        long id = id(s, object);
        beginEpoch(s);
        emitSince(s, kind, site, id, variable, s.since);
        if (kind != EVENT_VOLATILE_READ) {
            beginEpoch(s);
        }
    }

    /** A call of a concurrent collection has happened since then. */
    @DontInline
    static void concurrent(long since, Object operand, int op, int site) {
        Scission.interval(since);
        Scission.call(operand, op, site);
    }

    /** The same for a call that is about the entry with this key alone. */
    @DontInline
    static void concurrentEntry(long since, Object key, Object operand, int op, int site) {
        Scission.interval(since);
        Scission.call(key, OP_CONCURRENT_KEY, site);
        Scission.call(operand, op, site);
    }

    /** The interval of a call whose object is no concurrent collection. */
    static final long NOT_CONCURRENT = -1;

    /** Whether an operation is there for concurrent collections only, and the object of the last call is none. */
    @ForceInline
    static boolean isNotConcurrent(int op) {
        if (op != OP_CONCURRENT_READ && op != OP_CONCURRENT_UPDATE && op != OP_CONCURRENT_KEY) {
            return false;
        }
        ScissionThread s = Thread.currentThread().$scission;
        return s == null || s.since == NOT_CONCURRENT;
    }

    /** Whether what looks like a lock by its name is one: a class of the program may be anything. */
    private static boolean isLock(Object object) {
        return object.getClass().getClassLoader() == null
            || ScissionShapes.of(object.getClass()).has(FACT_LOCK);
    }

    /** The number of a lock; a read lock that is known as a lock only is still a read lock. */
    private static long lockOf(ScissionThread s, Object lock) {
        long id = id(s, lock);
        return ScissionShapes.of(lock.getClass()).has(FACT_SHARED_LOCK) ? ~id : id;
    }

    /** A thread is about to be started; only the first report of that counts. */
    static void fork(ScissionThread s, Thread child, int site) {
        if (child.$scission == null) {
            ScissionThread c = ScissionEpochs.attach(child);
            emit(s, EVENT_FORK, site, c.number, 0);
            beginEpoch(s);
            c.starter = s.number;
            c.started = s.epoch;
            c.follow(s, s.epoch);
            emit(c, EVENT_THREAD_BEGIN, 0, 0, 0);
        }
    }

    /** A thread may have ended. */
    static void join(ScissionThread s, Thread child, int site) {
        ScissionThread c = child.$scission;
        if (c != null && c != s && !child.isAlive()) {
            beginEpoch(s);
            emit(s, EVENT_JOIN, site, c.number, 0);
            s.follow(c, c.epoch + SITES);
        }
    }

    // ------------------------------------------------------------------ elements

    /**
     * The elements of an array, or of a collection of the library that holds them itself or is a view of one that does;
     * anything else stands for itself.
     */
    private static Object[] each(Object operand) {
        Object holder = operand;
        for (int views = 0; views < MOST_VIEWS && holder instanceof Collection; views++) {
            if (ScissionShapes.of(holder.getClass()).has(FACT_HOLDS_ELEMENTS)) {
                return present(((Collection<?>) holder).toArray());
            }
            holder = wrapped(holder);
        }
        return operand instanceof Object[] ? present((Object[]) operand) : new Object[] {operand};
    }

    /** What a view of the library is a view of; null if it is none. */
    private static Object wrapped(Object view) {
        for (Class<?> type = view.getClass(); type != null; type = type.getSuperclass()) {
            String name = type.getClassLoader() == null ? ScissionNatives.wrappedField(type.getName()) : null;
            if (name != null) {
                try {
                    Field field = type.getDeclaredField(name);
                    field.setAccessible(true);
                    return field.get(view);
                } catch (ReflectiveOperationException unknown) {
                    return null;
                }
            }
        }
        return null;
    }

    /** The elements that are not null. */
    private static Object[] present(Object[] elements) {
        int kept = 0;
        Object[] present = new Object[elements.length];
        for (Object element : elements) {
            if (element != null) {
                present[kept++] = element;
            }
        }
        return Arrays.copyOf(present, kept);
    }
}
