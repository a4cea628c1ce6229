package java.lang;

import static java.lang.ScissionConfiguration.OWNERSHIP;
import static java.lang.ScissionEpochs.beginEpoch;
import static java.lang.ScissionEpochs.owner;
import static java.lang.ScissionEvents.emit;
import static java.lang.ScissionProtocol.*;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleInfo;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The order that library code makes: what rewritten classes of the library call, {@code order_hooks.rs} of
 * {@code agent_protocol} lists it.
 *
 * <p><b>Places.</b> Threads are ordered by what they do to places in memory. A place has a key of {@link #KEY_BITS} bits,
 * mixed from the identity of the object and what of it is meant: one volatile field or array element, the static fields
 * of a class, its monitor, a task that is handed over. That two places have one key is possible and rare: they
 * then count as one, which can hide a race and cannot invent one.
 *
 * <p><b>Words.</b> A table has a word for some bits of the key; the other bits are its tag. A word is 0 while nobody has
 * released to its places. While one thread alone has released to one place, the word is the epoch of that thread's last
 * release, and the tag: no event is needed, since nobody else has acquired it. Whoever else comes to the word, or comes
 * with another tag, reports that release on behalf of its thread, and from then on the word is shared: every release is
 * an event, and so is every acquisition by a thread that has not acquired since the last release. A shared word holds the
 * epoch of the last release to any of its places; a thread remembers the words that it has acquired from. A thread that has
 * acquired all that was released to a word, and to one place alone, has the word for itself again when it releases to that
 * place: whoever acquires what it releases acquires the rest as well. The tag of a word that was shared by several places is
 * {@link #SEVERAL}.
 *
 * <p><b>Why no order is lost.</b> A release stores its word, or its event, before the operation that others can see; an
 * acquisition looks at the word after the operation. So whoever sees what was written finds the word of that release, or
 * of a later one that came after its event. Words are changed by compare-and-set, or stored after an event: each release
 * leaves a value behind that no thread remembers.
 *
 * <p><b>Modes.</b> Each thread has a stack of modes, of which the innermost counts; see {@code OrderMode}. The runtime
 * itself uses classes of the library: while it does, the mode is quiet.
 */
public final class ScissionOrder {
    private static final Unsafe U = Unsafe.getUnsafe();

    private static final long WORDS = ScissionNatives.configuration(WORD_ORDER_WORDS);
    private static final long TAG = (1L << SITE_BITS) - 1;
    private static final int KEY_BITS = SITE_BITS + ORDER_WORD_BITS;
    private static final long SHARED = 1L << 63;
    private static final long SEVERAL = TAG;
    /** Distinguishes places in memory from objects, which have small numbers. */
    private static final long PLACE = 1L << 62;
    /** The place that fences release to and acquire from. */
    private static final long FENCES = PLACE - 1 >>> 62 - KEY_BITS;

    // What of an object is meant. Offsets of fields and elements are multiples of eight here, and greater.
    private static final long STATIC_FIELDS = 1;
    private static final long MONITOR = 2;
    private static final long TASK = 3;
    private static final long SHARED_HOLDERS = 4;

    /** Whether order is observed; set once, when the library has been rewritten. */
    static boolean isOn;

    private ScissionOrder() {}

    /** Called by the agent when the classes that were loaded before it have been rewritten. */
    static void turnOn() {
        if (ScissionConfiguration.EMITS) {
            emit(ScissionEpochs.current(), EVENT_LIBRARY_ORDER, 0, 0, 0);
            // The JVM looks for a native method with library code, when it is called first.
            ScissionNatives.libraryField(-1);
            ScissionNatives.notes(-1);
            ScissionNatives.openNotes(-1, 0);
            ScissionNatives.waitForRoom(-1);
            isOn = true;
        }
    }

    // ------------------------------------------------------------------ places

    /** The key of a place. */
    @ForceInline
    private static long key(Object object, long what) {
        long mixed = (System.identityHashCode(object) + what * 0xd6e8feb86659fd93L) * 0x9e3779b97f4a7c15L;
        return (mixed ^ mixed >>> 32) * 0xbf58476d1ce4e5b9L >>> 64 - KEY_BITS;
    }

    /** What of an object an operation at an offset is about. The static fields of a class are one place. */
    @ForceInline
    private static long placeIn(Object base, long offset) {
        return base instanceof Class ? placeInClass((Class<?>) base) : offset << 3;
    }

    @DontInline
    private static long placeInClass(Class<?> type) {
        if (type.getClassLoader0() != null) {
            ScissionShapes.Shape shape = ScissionShapes.of(type);
            if (!shape.hasStaticPlaces) {
                // What the program wrote by the names of the fields has not been released to this place.
                shape.hasStaticPlaces = true;
                acquireAll();
            }
        }
        return STATIC_FIELDS;
    }

    /** Where the fields of library classes that hooks name are in their objects, by number; 0 where nobody has asked. */
    @Stable private static final long[] PLACES = new long[LIBRARY_FIELDS];

    @ForceInline
    private static long placeOf(Object object, int field) {
        long place = PLACES[field];
        return place != 0 ? place : findPlace(object, field);
    }

    @DontInline
    private static long findPlace(Object object, int field) {
        String name = ScissionNatives.libraryField(field);
        if (name == null) {
            return STATIC_FIELDS;
        }
        int blank = name.indexOf(' ');
        String owner = name.substring(0, blank);
        Class<?> type = object.getClass();
        while (type != null && !type.getName().equals(owner)) {
            type = type.getSuperclass();
        }
        // The class that the code names is the one that declares the field, or one below it.
        for (; type != null; type = type.getSuperclass()) {
            try {
                long place = U.objectFieldOffset(type, name.substring(blank + 1)) << 3;
                PLACES[field] = place;
                return place;
            } catch (InternalError isDeclaredAbove) {
                continue;
            }
        }
        return STATIC_FIELDS;
    }

    // ------------------------------------------------------------------ memory operations and fields

    /** After an operation at an offset. */
    @ForceInline
    static void acquire(Object base, long offset) {
        if (isOn) {
            acquireKey(key(base, placeIn(base, offset)));
        }
    }

    /** Before an operation at an offset. */
    @ForceInline
    static void release(Object base, long offset) {
        if (isOn && ScissionEpochs.hasThreads) {
            releaseKey(base, placeIn(base, offset));
        }
    }

    /** After a volatile field of a library object was read. */
    @ForceInline
    public static void acquireField(Object object, int field) {
        if (isOn) {
            acquireKey(key(object, placeOf(object, field)));
        }
    }

    /** Before a volatile field of a library object is written. */
    @ForceInline
    public static void releaseField(Object object, int field) {
        if (isOn && ScissionEpochs.hasThreads && object != null) {
            releaseKey(object, placeOf(object, field));
        }
    }

    /** After a volatile static field of a library class was read. */
    public static void acquireStatic(Object owner) {
        if (isOn) {
            acquireKey(key(owner, STATIC_FIELDS));
        }
    }

    /** Before a volatile static field of a library class is written. */
    public static void releaseStatic(Object owner) {
        if (isOn && ScissionEpochs.hasThreads) {
            releaseKey(owner, STATIC_FIELDS);
        }
    }

    /** Before the reference of an object is written in a mode that orders nothing but final fields. */
    static void releaseFinal(Object base, long offset, Object value) {
        if (isOn && ScissionEpochs.hasThreads && (hasFinalFields(value) || hasFenced())) {
            releaseKey(base, placeIn(base, offset));
        }
    }

    /** Before a write in opaque mode: what came before a fence before it is seen by whoever acquires what it writes. */
    static void releaseAfterFence(Object base, long offset) {
        if (isOn && ScissionEpochs.hasThreads && hasFenced()) {
            releaseKey(base, placeIn(base, offset));
        }
    }

    private static boolean hasFenced() {
        ScissionThread s = Thread.currentThread().$scission;
        return s != null && s.hasFenced;
    }

    /** After the reference of an object was read in such a mode. */
    static void acquireFinal(Object base, long offset, Object value) {
        if (isOn && hasFinalFields(value)) {
            acquireKey(key(base, placeIn(base, offset)));
        }
    }

    /** Whether threads that get hold of an object in any way may rely on what its final fields lead to. */
    private static boolean hasFinalFields(Object value) {
        if (value == null || value.getClass().getClassLoader0() == null) {
            return false;
        }
        return ScissionShapes.of(value.getClass()).hasFinalFields;
    }

    /** After a volatile field of a watched class was read by its name. */
    static void acquireVolatile(Object object, Class<?> owner, int site) {
        if (!isOn) {
            return;
        }
        if (object != null) {
            acquireKey(key(object, ScissionSites.offset(site) << 3));
        } else if (owner != null && ScissionShapes.of(owner).hasStaticPlaces) {
            acquireKey(key(owner, STATIC_FIELDS));
        }
    }

    /** Before a volatile field of a watched class is written by its name. */
    static void releaseVolatile(Object object, Class<?> owner, int site) {
        if (!isOn || !ScissionEpochs.hasThreads) {
            return;
        }
        if (object != null) {
            releaseKey(object, ScissionSites.offset(site) << 3);
        } else if (owner != null && ScissionShapes.of(owner).hasStaticPlaces) {
            releaseKey(owner, STATIC_FIELDS);
        }
    }

    /**
     * After a volatile field was read that gives order and is no variable: its compiler made it, or it is one of code that is
     * not watched.
     */
    public static void acquireOrderField(Object object, int site) {
        try {
            ScissionThread s = ScissionEpochs.current();
            if (!isOn) {
                ScissionCalls.call(s, object, OP_RECEIVE, site);
            } else if (ScissionSites.isVolatile(ScissionAccesses.entry(s, object, null, site))) {
                acquireVolatile(object, null, site);
            }
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** Before a volatile field is written that gives order and is no variable; the object may be null. */
    public static void releaseOrderField(Object object, int site) {
        if (object == null) {
            return;
        }
        try {
            ScissionThread s = ScissionEpochs.current();
            if (!isOn) {
                ScissionCalls.call(s, object, OP_PUBLISH, site);
            } else if (ScissionSites.isVolatile(ScissionAccesses.entry(s, object, null, site))) {
                releaseVolatile(object, null, site);
            }
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A method begins that runs code of the program again until nothing disturbs it. */
    public static void mute() {
        ScissionEpochs.current().muted++;
    }

    /** Such a method ends, or does something itself that counts. */
    public static void unmute() {
        ScissionEpochs.current().muted--;
    }

    /** After a field was read by reflection. */
    public static void acquireReflective(Object field, Object object) {
        if (isOn && isVolatile(field)) {
            Field f = (Field) field;
            if (Modifier.isStatic(f.getModifiers())) {
                acquire(f.getDeclaringClass(), U.staticFieldOffset(f));
            } else if (object != null) {
                acquire(object, U.objectFieldOffset(f));
            }
        }
    }

    /** Before a field is written by reflection. */
    public static void releaseReflective(Object field, Object object) {
        if (isOn && isVolatile(field)) {
            Field f = (Field) field;
            if (Modifier.isStatic(f.getModifiers())) {
                release(f.getDeclaringClass(), U.staticFieldOffset(f));
            } else if (f.getDeclaringClass().isInstance(object)) {
                release(object, U.objectFieldOffset(f));
            }
        }
    }

    /**
     * A handle that accesses a volatile field, as a {@code VarHandle} does it: code that the JVM makes for the original
     * handle never comes to the agent. Any other handle stays as it is.
     */
    public static Object accessor(Object handle, Object lookup) {
        if (!isOn || !(handle instanceof MethodHandle) || !(lookup instanceof MethodHandles.Lookup)) {
            return handle;
        }
        ScissionThread s = quieten();
        try {
            return volatileAccessor((MethodHandle) handle, (MethodHandles.Lookup) lookup);
        } catch (ReflectiveOperationException | RuntimeException notDirect) {
            return handle;
        } finally {
            leaveMode(s);
        }
    }

    private static MethodHandle volatileAccessor(MethodHandle handle, MethodHandles.Lookup lookup)
            throws ReflectiveOperationException {
        MethodHandleInfo info = lookup.revealDirect(handle);
        int kind = info.getReferenceKind();
        if (kind > MethodHandleInfo.REF_putStatic || !Modifier.isVolatile(info.getModifiers())) {
            return handle;
        }
        boolean isGetter = kind == MethodHandleInfo.REF_getField || kind == MethodHandleInfo.REF_getStatic;
        boolean isStatic = kind == MethodHandleInfo.REF_getStatic || kind == MethodHandleInfo.REF_putStatic;
        MethodType type = handle.type();
        Class<?> field = isGetter ? type.returnType() : type.lastParameterType();
        Class<?> owner = info.getDeclaringClass();
        VarHandle variable = isStatic
            ? lookup.findStaticVarHandle(owner, info.getName(), field)
            : lookup.findVarHandle(owner, info.getName(), field);
        return variable.toMethodHandle(isGetter ? VarHandle.AccessMode.GET_VOLATILE : VarHandle.AccessMode.SET_VOLATILE)
            .asType(type);
    }

    private static boolean isVolatile(Object field) {
        return field instanceof Field && Modifier.isVolatile(((Field) field).getModifiers());
    }

    // ------------------------------------------------------------------ monitors

    /** A monitor is about to be entered: its hash is made while it is free. */
    @ForceInline
    public static void prepareMonitor(Object object) {
        if (isOn) {
            System.identityHashCode(object);
        }
    }

    /** A monitor has been entered. */
    public static void acquireMonitor(Object object) {
        if (isOn) {
            long id = numberInProgram(object);
            if (id == 0) {
                acquireKey(key(object, MONITOR));
            } else {
                acquireLock(id);
            }
        }
    }

    /** A monitor is about to be given back. */
    public static void releaseMonitor(Object object) {
        if (isOn && ScissionEpochs.hasThreads && object != null) {
            long id = numberInProgram(object);
            if (id == 0) {
                releaseKey(object, MONITOR);
            } else {
                releaseLock(id);
            }
        }
    }

    /** The program has entered the monitor of an object: library code may enter it as well. */
    static void acquireMonitorOfLibrary(Object object) {
        if (isOn && object != null && object.getClass().getClassLoader0() == null) {
            acquireKey(key(object, MONITOR));
        }
    }

    /** The program is about to give back the monitor of an object. */
    static void releaseMonitorOfLibrary(Object object) {
        if (isOn && ScissionEpochs.hasThreads && object != null && object.getClass().getClassLoader0() == null) {
            releaseKey(object, MONITOR);
        }
    }

    /** The number of an object that hooks of the program report as a lock by its number; 0 for others. */
    private static long numberInProgram(Object object) {
        Class<?> type = object.getClass();
        if (type.getClassLoader0() == null) {
            return 0;
        }
        ScissionThread s = ScissionEpochs.current();
        enterMode(s, ORDER_QUIET);
        long id = ScissionShapes.of(type).idOffset == 0 ? 0 : ScissionObjects.id(s, object);
        leaveMode(s);
        return id;
    }

    private static void acquireLock(long id) {
        ScissionThread s = ScissionEpochs.current();
        int mode = mode(s);
        if (mode == ORDER_LOUD || mode == ORDER_ACQUIRE_ONLY) {
            beginEpoch(s);
            emit(s, EVENT_ORDER_ACQUIRE, 0, id, 0);
        }
    }

    private static void releaseLock(long id) {
        ScissionThread s = ScissionEpochs.current();
        int mode = mode(s);
        if (mode == ORDER_LOUD || mode == ORDER_RELEASE_ONLY) {
            emit(s, EVENT_ORDER_RELEASE, 0, id, 0);
            beginEpoch(s);
        }
    }

    /** A synchronized method has begun. */
    public static void enterMethod(Object object) {
        if (isOn) {
            ScissionThread s = ScissionEpochs.current();
            int depth = s.libraryMonitors;
            Object[] monitors = s.monitors;
            if (depth == monitors.length) {
                s.monitors = monitors = Arrays.copyOf(monitors, Math.max(4, depth * 2));
            }
            s.libraryMonitors = depth + 1;
            monitors[depth] = object;
            acquireMonitor(object);
        }
    }

    /** The innermost synchronized method ends. */
    public static void leaveMethod() {
        ScissionThread s = Thread.currentThread().$scission;
        if (isOn && s != null && s.libraryMonitors > 0) {
            int depth = --s.libraryMonitors;
            Object object = s.monitors[depth];
            s.monitors[depth] = null;
            releaseMonitor(object);
        }
    }

    /** Does what {@code wait} does. */
    public static void waitOn(Object object) throws InterruptedException {
        releaseMonitor(object);
        try {
            object.wait();
        } finally {
            acquireMonitor(object);
        }
    }

    /** Does what {@code wait} does. */
    public static void waitOn(Object object, long millis) throws InterruptedException {
        releaseMonitor(object);
        try {
            object.wait(millis);
        } finally {
            acquireMonitor(object);
        }
    }

    /** Does what {@code wait} does. */
    public static void waitOn(Object object, long millis, int nanos) throws InterruptedException {
        releaseMonitor(object);
        try {
            object.wait(millis, nanos);
        } finally {
            acquireMonitor(object);
        }
    }

    // ------------------------------------------------------------------ what is handed over

    /** A task is handed over. */
    public static void releaseTask(Object task) {
        if (isOn && ScissionEpochs.hasThreads && task != null) {
            ScissionThread s = ScissionEpochs.current();
            // Who hands a task over may already be where order is not listened to.
            enterMode(s, ORDER_LOUD);
            releaseKey(task, TASK);
            leaveMode(s);
        }
    }

    /** A task that was handed over is there. */
    public static void acquireTask(Object task) {
        if (isOn && task != null) {
            ScissionThread s = ScissionEpochs.current();
            enterMode(s, ORDER_LOUD);
            acquireKey(key(task, TASK));
            leaveMode(s);
        }
    }

    /** What shared holders of a lock have released is acquired. */
    public static void acquireShared(Object lock) {
        if (isOn && lock != null) {
            acquireKey(key(lock, SHARED_HOLDERS));
        }
    }

    /** What was withheld last is acquired after all. */
    public static void acquireWithheld() {
        ScissionThread s = Thread.currentThread().$scission;
        if (isOn && s != null && s.withheld != 0) {
            enterMode(s, ORDER_LOUD);
            acquireKey(s.withheld);
            leaveMode(s);
        }
    }

    /** Interrupting a thread releases to it. */
    public static void acquireInterrupt() {
        acquireTask(Thread.currentThread());
    }

    /** What all threads did so far is acquired. */
    public static void acquireAll() {
        if (isOn) {
            ScissionThread s = ScissionEpochs.current();
            if (mode(s) == ORDER_LOUD) {
                beginEpoch(s);
                emit(s, EVENT_ORDER_ACQUIRE_ALL, 0, 0, 0);
            }
        }
    }

    /** A thread is about to be started. */
    public static void start(Object thread) {
        if (isOn && thread instanceof Thread) {
            ScissionCalls.fork(ScissionEpochs.current(), (Thread) thread, 0);
        }
    }

    /** A thread may have ended. */
    public static void join(Object thread) {
        if (isOn && thread instanceof Thread) {
            ScissionThread s = ScissionEpochs.current();
            if (mode(s) == ORDER_LOUD) {
                enterMode(s, ORDER_QUIET);
                ScissionCalls.join(s, (Thread) thread, 0);
                leaveMode(s);
            }
        }
    }

    /** A fence. */
    public static void releaseFence() {
        if (isOn && ScissionEpochs.hasThreads) {
            ScissionThread s = ScissionEpochs.current();
            if (mode(s) == ORDER_LOUD) {
                s.hasFenced = true;
                emit(s, EVENT_ORDER_RELEASE, 0, PLACE | FENCES, 0);
                beginEpoch(s);
            }
        }
    }

    /** A fence. */
    public static void acquireFence() {
        if (isOn) {
            ScissionThread s = ScissionEpochs.current();
            if (mode(s) == ORDER_LOUD) {
                beginEpoch(s);
                emit(s, EVENT_ORDER_ACQUIRE, 0, PLACE | FENCES, 0);
            }
        }
    }

    // ------------------------------------------------------------------ modes

    @ForceInline
    private static int mode(ScissionThread s) {
        return (int) s.orderModes & (1 << ORDER_MODE_BITS) - 1;
    }

    @ForceInline
    static void enterMode(ScissionThread s, int mode) {
        s.orderModes = s.orderModes << ORDER_MODE_BITS | mode;
    }

    @ForceInline
    static void leaveMode(ScissionThread s) {
        s.orderModes >>>= ORDER_MODE_BITS;
    }

    /** The state of this thread, which uses classes of the library for the hooks from here on. */
    @ForceInline
    static ScissionThread quieten() {
        ScissionThread s = ScissionEpochs.current();
        enterMode(s, ORDER_QUIET);
        return s;
    }

    /** A method begins in which order counts in another way. */
    public static void enterMode(int mode) {
        if (isOn) {
            enterMode(ScissionEpochs.current(), mode);
        }
    }

    /** That method ends. */
    public static void leaveMode() {
        ScissionThread s = Thread.currentThread().$scission;
        if (isOn && s != null) {
            leaveMode(s);
        }
    }

    // ------------------------------------------------------------------ words

    @ForceInline
    private static long address(long key) {
        return WORDS + (key >>> SITE_BITS << 3);
    }

    /** The thread acquires from a place, if another one has released to it. */
    @ForceInline
    private static void acquireKey(long key) {
        long word = U.getLong(null, address(key));
        if (word != 0 && (word < 0 || ((word ^ key) & TAG) == 0)) {
            acquireWord(key, word);
        }
    }

    private static void acquireWord(long key, long word) {
        ScissionThread s = Thread.currentThread().$scission;
        if (s != null) {
            if (word > 0 ? owner(word) == s.number : s.hasAcquired(key, word)) {
                return;
            }
        }
        acquireNow(key);
    }

    @DontInline
    private static void acquireNow(long key) {
        ScissionThread s = ScissionEpochs.current();
        int mode = mode(s);
        if (mode == ORDER_RELEASE_ONLY) {
            s.withheld = key;
        }
        if (mode != ORDER_LOUD && mode != ORDER_ACQUIRE_ONLY) {
            return;
        }
        long word = share(s, address(key), false);
        if (word < 0) {
            beginEpoch(s);
            s.acquired(key, word);
            emit(s, EVENT_ORDER_ACQUIRE, 0, PLACE | key, 0);
        }
    }

    /** The thread releases to a place. */
    private static void releaseKey(Object object, long what) {
        ScissionThread s = ScissionEpochs.current();
        int mode = mode(s);
        if (mode != ORDER_LOUD) {
            if (mode == ORDER_QUIET || mode == ORDER_ACQUIRE_ONLY) {
                return;
            }
            what = mode == ORDER_SHARED_RELEASE ? SHARED_HOLDERS : what;
        }
        long key = key(object, what);
        long address = address(key);
        long word = U.getLong(null, address);
        boolean isOwn = word == 0 || isOfPlace(word, key) && (word > 0 ? owner(word) == s.number : s.hasAcquired(key, word));
        long noted = s.epoch | key & TAG;
        if (OWNERSHIP && isOwn && U.compareAndSetLong(null, address, word, noted)) {
            s.ownsReleased(key, noted | SHARED);
            beginEpoch(s);
            return;
        }
        releaseNow(s, key, address);
    }

    /** Whether a word that is not 0 is one of this place alone. */
    @ForceInline
    private static boolean isOfPlace(long word, long key) {
        return ((word ^ key) & TAG) == 0 && (key & TAG) != SEVERAL;
    }

    @DontInline
    private static void releaseNow(ScissionThread s, long key, long address) {
        share(s, address, true);
        emit(s, EVENT_ORDER_RELEASE, 0, PLACE | key, 0);
        while (true) {
            long before = share(s, address, true);
            long tag = before == 0 || isOfPlace(before, key) ? key & TAG : SEVERAL;
            long word = s.epoch | tag | SHARED;
            if (U.compareAndSetLong(null, address, before, word)) {
                if (s.hasAcquired(key, before)) {
                    s.acquired(key, word);
                }
                break;
            }
        }
        beginEpoch(s);
    }

    /**
     * The word at an address, after it has become shared if it was another thread's, or if that is wanted in any case;
     * 0 if it is still the thread's own or nobody's. Of two threads that come at once both report the release.
     */
    private static long share(ScissionThread s, long address, boolean always) {
        while (true) {
            long word = U.getLongVolatile(null, address);
            if (word <= 0) {
                return word;
            }
            if (!always && owner(word) == s.number) {
                return 0;
            }
            long bucket = address - WORDS >>> 3;
            ScissionEvents.earlierRelease(word, PLACE | bucket << SITE_BITS | word & TAG);
            if (U.compareAndSetLong(null, address, word, word | SHARED)) {
                return word | SHARED;
            }
        }
    }
}
