package java.lang;

import static java.lang.ScissionEpochs.current;
import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionSites.FINAL_OF_CLASS;
import static java.lang.ScissionSites.IS_DONE;
import static java.lang.ScissionSites.UNRESOLVED;
import static java.lang.ScissionSites.entry;

/**
 * The hooks that the agent inserts into the classes of the program; {@code hooks.rs} of {@code agent_protocol} lists
 * them, and says when each is called and with what.
 *
 * <p>Here stand the common cases of accesses, short enough to be compiled into every access; everything else is one
 * call away:
 *
 * <ul>
 * <li>{@link ScissionSites}: what a site refers to;
 * <li>{@link ScissionAccesses}, {@link ScissionArrays}, {@link ScissionVolatile}: accesses, and
 *     {@link ScissionFilters} and {@link ScissionNotes}, which keep most of them from being reported;
 * <li>{@link ScissionLocks}, {@link ScissionBlocks}, {@link ScissionTasks}, {@link ScissionCalls}: everything else
 *     that hooks report;
 * <li>{@link ScissionObjects}, {@link ScissionShapes}, {@link ScissionThread}, {@link ScissionEpochs}: what is known of
 *     objects, classes and threads;
 * <li>{@link ScissionEvents}: how events get out; {@link ScissionNatives}: what the agent is asked.
 * </ul>
 *
 * <p>The agent defines these classes in {@code java.lang} by the boot loader, so that every class loader finds
 * them and the virtual machine trusts their annotations.
 *
 * <p><b>What other threads see.</b> Processors such as AArch64 let a thread see the stores of another in another
 * order. What hooks share is right there for one of these reasons, and says which:
 * <ol>
 * <li>The words of a variable, and the notes of its reads, are plain stores of 64 bits, which are never seen in
 *     halves. The store lies between the same operations of the thread as the access that it stands for. So if the
 *     program orders two accesses, their stores are ordered too; if it does not, the accesses race, and what is
 *     not exact is said above.
 * <li>What a word refers to (the owner of an epoch) is stored before a fence, and the word after it. Who reads the
 *     word uses it to find the place: no processor that runs a JVM loads from an address before it has it.
 * <li>What is found otherwise than by what was read (the field of a site) has a fence between the two stores, and
 *     one between the two loads.
 * <li>The notes of volatile variables are exchanged atomically and read with volatile loads.
 * <li>What only saves work may be seen late: who misses it looks again under the lock.
 * </ol>
 *
 * <p><b>What holds for every hook.</b> It throws nothing: what goes wrong inside, where there is no memory or
 * stack left above all, is caught in the hook itself and counted in {@link ScissionFailures}. Only what is thrown
 * at a thread from outside passes, as {@code Thread.stop} does. Hooks that are compiled into everything catch only
 * what can happen anywhere, since every class that is caught makes their code longer; what they call catches the
 * rest. It runs no code of the program, takes no lock while it calls out, and uses no class that the agent
 * rewrites. Operands that no compiler makes, such as a null object or a number that is no site, do no harm; but
 * the object of an access must be one that has the field of the site, which the verifier of the JVM has made sure
 * of.
 */
public final class Scission {
    private Scission() {}

    // ------------------------------------------------------------------ fields

    /** A field of an object was read. */
    public static void read(Object object, int site) {
        try {
            long entry = entry(site);
            ScissionThread s = Thread.currentThread().$scission;
            if (s != null && object != null && ScissionSites.isField(entry)) {
                if (!ScissionFilters.isQuietRead(s, object, entry & 0xffffffffL, site)) {
                    ScissionAccesses.readWords(s, object, entry, site);
                }
            } else if (entry != IS_DONE) {
                readOther(s, object, entry, site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A field of an object is about to be written. */
    public static void write(Object object, int site) {
        try {
            if (object == null) {
                return;
            }
            ScissionThread s = Thread.currentThread().$scission;
            long entry = entry(site);
            if (s != null && ScissionSites.isField(entry)) {
                if (!ScissionFilters.isQuietWrite(s, object, entry & 0xffffffffL, entry >>> 32, site)) {
                    ScissionAccesses.writeWords(s, object, entry, site);
                }
            } else {
                ScissionAccesses.writeOther(object, null, site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /**
     * A field of an object was read that no other thread can know yet. Only fields without words need the object beyond this
     * method: to a compiler that does not come across any, it stays an object that need not be allocated.
     */
    public static void readNew(Object object, int site) {
        try {
            if (object != null) {
                ScissionThread s = current();
                long entry = ScissionAccesses.entryOfNew(s, object, site);
                if (ScissionFilters.NOTES_NEW && ScissionSites.isField(entry)) {
                    ScissionFilters.noteNew(s, object, entry & 0xffffffffL, site);
                } else if (entry != IS_DONE) {
                    ScissionAccesses.readOther(object, null, site);
                }
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A field of an object is about to be written that no other thread can know yet. */
    public static void writeNew(Object object, int site) {
        try {
            if (object != null) {
                ScissionThread s = current();
                long entry = ScissionAccesses.entryOfNew(s, object, site);
                if (ScissionFilters.NOTES_NEW && ScissionSites.isField(entry)) {
                    ScissionFilters.noteNew(s, object, entry >>> 32, site);
                } else if (entry != IS_DONE) {
                    ScissionAccesses.writeOther(object, null, site);
                }
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A static field was read. */
    public static void readStatic(Class<?> owner, int site) {
        try {
            ScissionThread s = Thread.currentThread().$scission;
            long entry = entry(site);
            if (s != null && ScissionSites.isStatic(entry)) {
                if (!ScissionFilters.isQuietRead(s, null, ScissionSites.wordOfReads(entry), site)) {
                    ScissionAccesses.readWords(s, null, entry, site);
                }
            } else if (s == null || !isQuietOtherStatic(s, owner, entry, site)) {
                ScissionAccesses.readOther(null, owner, site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A field was read that is volatile, has no words, or was not read at this site before. */
    private static void readOther(ScissionThread s, Object object, long entry, int site) {
        if (object == null) {
            return;
        }
        if (s != null && ScissionSites.isVolatileField(entry)
            && ScissionVolatile.isQuietRead(s, object, ScissionSites.volatileWord(entry), site)) {
            ScissionOrder.acquireVolatile(object, null, site);
        } else {
            ScissionAccesses.readOther(object, null, site);
        }
    }

    /** Whether a read of a static field without words for ordinary accesses need not be reported now. */
    private static boolean isQuietOtherStatic(ScissionThread s, Class<?> owner, long entry, int site) {
        if (ScissionSites.isVolatileStatic(entry)) {
            if (!ScissionVolatile.isQuietRead(s, null, ScissionSites.volatileWord(entry), site)) {
                return false;
            }
            ScissionOrder.acquireVolatile(null, owner, site);
            return true;
        }
        return entry <= FINAL_OF_CLASS && entry > Integer.MIN_VALUE && s.sees((int) (FINAL_OF_CLASS - entry));
    }

    /** A static field is about to be written. */
    public static void writeStatic(Class<?> owner, int site) {
        try {
            ScissionThread s = Thread.currentThread().$scission;
            long entry = entry(site);
            if (s != null && ScissionSites.isStatic(entry)) {
                long r = ScissionSites.wordOfReads(entry);
                if (!ScissionFilters.isQuietWrite(s, null, r, r + 8, site)) {
                    ScissionAccesses.writeWords(s, null, entry, site);
                }
            } else {
                ScissionAccesses.writeOther(null, owner, site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A static field was read, in a class file that cannot name its class. */
    public static void readStatic(int site) {
        readStatic(null, site);
    }

    /** A static field is about to be written, in a class file that cannot name its class. */
    public static void writeStatic(int site) {
        writeStatic(null, site);
    }

    /** A field of an object that may be volatile is about to be read. */
    public static void beforeRead(Object object, int site) {
        if (object != null && ScissionSites.mayBeVolatile(entry(site))) {
            ScissionAccesses.beforeRead(object, null, site);
        }
    }

    /** A static field that may be volatile is about to be read. */
    public static void beforeReadStatic(Class<?> owner, int site) {
        if (ScissionSites.mayBeVolatile(entry(site))) {
            ScissionAccesses.beforeRead(null, owner, site);
        }
    }

    /** A static field that may be volatile is about to be read, in a class file that cannot name its class. */
    public static void beforeReadStatic(int site) {
        beforeReadStatic(null, site);
    }

    /** A field that may be volatile was written. */
    public static void written(int site) {
        if (entry(site) < UNRESOLVED) {
            ScissionThread s = Thread.currentThread().$scission;
            if (s != null && s.writeSite == site && site != 0) {
                ScissionVolatile.written(s);
            }
        }
    }

    /** The class of this site has been initialised. */
    public static void initialised(Class<?> type, int site) {
        try {
            if (type != null) {
                ScissionThread s = current();
                ScissionEvents.emit(s, EVENT_CLASS_INITIALISED, site, ScissionShapes.of(type).number, 0);
                ScissionEpochs.beginEpoch(s);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    // ------------------------------------------------------------------ array elements

    /** An element of an array is about to be read. */
    public static void readElement(Object array, int index, int site) {
        try {
            if (ScissionArrays.hasElement(array, index)) {
                ScissionThread s = current();
                if (ScissionConfiguration.EMITS && entry(site) == UNRESOLVED) {
                    ScissionArrays.firstUse(s, site);
                }
                ScissionArrays.read(s, array, index, site & SITES - 1);
            }
        } catch (RuntimeException | VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** An element of an array is about to be written. */
    public static void writeElement(Object array, int index, int site) {
        try {
            if (ScissionArrays.hasElement(array, index)) {
                ScissionThread s = current();
                if (ScissionConfiguration.EMITS && entry(site) == UNRESOLVED) {
                    ScissionArrays.firstUse(s, site);
                }
                ScissionArrays.write(s, array, index, site & SITES - 1);
            }
        } catch (RuntimeException | VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    // ------------------------------------------------------------------ locks

    /** A monitor is about to be entered: its number is taken while it is free. */
    public static void prepare(Object object) {
        try {
            if (object != null) {
                ScissionLocks.prepare(current(), object);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** The monitor that was prepared has been entered. */
    public static void entered(int site) {
        try {
            ScissionLocks.entered(current(), site);
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A monitor is about to be left. */
    public static void exit(Object object, int site) {
        try {
            if (object != null) {
                ScissionThread s = current();
                ScissionLocks.release(s, ScissionLocks.findHeld(s, object), site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A synchronized method has begun. */
    public static void enterMethod(Object object, int site) {
        try {
            if (object != null) {
                ScissionLocks.enterMethod(current(), object, site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A synchronized method has begun, in a class file that cannot name its class. */
    public static void enterMethod(int site) {
        try {
            ScissionLocks.enterMethod(current(), null, site);
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** The innermost synchronized method is about to end. */
    public static void leaveMethod(int site) {
        try {
            ScissionLocks.leaveMethod(current(), site);
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    // ------------------------------------------------------------------ atomic blocks

    /** An atomic block begins. */
    public static void begin(int site) {
        try {
            // Written so that the JVM's quick compiler does not compile it into every method.
            ScissionThread s = Thread.currentThread().$scission;
            if (s != null) {
                ScissionBlocks.begin(s, site);
            } else {
                ScissionBlocks.begin(current(), site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** The innermost atomic block ends. */
    public static void end(int site) {
        try {
            ScissionThread s = Thread.currentThread().$scission;
            if (s != null) {
                ScissionBlocks.end(s, site);
            } else {
                ScissionBlocks.end(current(), site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** An atomic block begins, unless it is the body of the task that has just begun. */
    public static void beginUnlessBody(int site) {
        try {
            ScissionThread s = current();
            if (!ScissionTasks.isBody(s)) {
                ScissionBlocks.begin(s, site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** What may be the body of the innermost task ends. */
    public static void endUnlessBody(int site) {
        try {
            ScissionThread s = current();
            if (!ScissionTasks.isBody(s)) {
                ScissionBlocks.end(s, site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A call is about to start a thread or to wait for one: the atomic blocks that are open are cut. */
    public static void cut() {
        try {
            ScissionThread s = Thread.currentThread().$scission;
            if (s != null && s.depth > 0) {
                ScissionBlocks.cut(s);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    // ------------------------------------------------------------------ tasks

    /** The body of a task begins. */
    public static void taskBegin(Object task, int site) {
        try {
            ScissionThread s = ScissionOrder.quieten();
            try {
                ScissionTasks.begin(s, task, site);
            } finally {
                ScissionOrder.leaveMode(s);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** The body of a lambda begins. */
    public static void lambdaBegin(int body, int site) {
        try {
            ScissionThread s = ScissionOrder.quieten();
            try {
                ScissionTasks.beginLambda(s, body, site);
            } finally {
                ScissionOrder.leaveMode(s);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** Code of the program calls what may be the body of a task: this time it is a method as any other. */
    public static void callsTask() {
        ScissionThread s = Thread.currentThread().$scission;
        if (s != null) {
            s.callsTask = true;
        }
    }

    /** The same, for a call in a loop, which may call one task after the other. */
    public static void callsTasks() {
        ScissionThread s = Thread.currentThread().$scission;
        if (s != null) {
            s.callsTask = true;
            s.callsTasks = true;
        }
    }

    /** The task that has just begun does nothing but make the call at this site. */
    public static void forwards(int site) {
        ScissionThread s = Thread.currentThread().$scission;
        if (s != null && s.depth == 0 && ScissionTasks.isBody(s)) {
            s.forwardingCall = site;
        }
    }

    /** The innermost task ends. */
    public static void taskEnd(int site) {
        try {
            ScissionThread s = ScissionOrder.quieten();
            try {
                ScissionTasks.end(s, site);
            } finally {
                ScissionOrder.leaveMode(s);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A lambda was made: all lambdas of its class have the same body. */
    public static void lambda(Object object, int body, int site) {
        try {
            if (entry(site) == UNRESOLVED) {
                ScissionTasks.newLambda(object, body, site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    // ------------------------------------------------------------------ library calls

    /** Something that a library call does to an operand. */
    public static void call(Object operand, int op, int site) {
        try {
            if ((operand != null || op == OP_KEY || op == OP_CONCURRENT_KEY) && !ScissionCalls.isNotConcurrent(op)) {
                ScissionCalls.call(current(), operand, op, site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** After a call: does {@link #call} if the result is true. */
    public static void callIf(int result, Object operand, int op, int site) {
        if (result != 0) {
            call(operand, op, site);
            if (op == OP_ACQUIRE || op == OP_ACQUIRE_SHARED || op == OP_ACQUIRE_MODELLED) {
                tried(operand, site);
            }
        }
    }

    /** The lock that a call has acquired might not have been acquired. */
    private static void tried(Object lock, int site) {
        try {
            ScissionLocks.tried(current(), lock, site);
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** After a call: does {@link #call} if the result is false. */
    public static void callIfNot(int result, Object operand, int op, int site) {
        if (result == 0) {
            call(operand, op, site);
        }
    }

    /** After a call: does {@link #call} if the result is something. */
    public static void callIfSome(Object result, Object operand, int op, int site) {
        if (result != null) {
            call(operand, op, site);
        }
    }

    /** Before a call: how many events have been reported. */
    public static long since(int site) {
        return ScissionEvents.tickets();
    }

    /** Before a call by an interface: how many events have been reported, if the object is a concurrent collection. */
    public static long sinceByClass(Object operand, int site) {
        try {
            return operand != null && ScissionContents.isConcurrent(current(), operand, site)
                ? ScissionEvents.tickets()
                : ScissionCalls.NOT_CONCURRENT;
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
            return ScissionCalls.NOT_CONCURRENT;
        }
    }

    /** {@link #readContents} and {@link #sinceByClass} in one. */
    public static long readContentsSince(Object operand, int site) {
        try {
            return operand != null && ScissionContents.read(current(), operand, site)
                ? ScissionEvents.tickets()
                : ScissionCalls.NOT_CONCURRENT;
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
            return ScissionCalls.NOT_CONCURRENT;
        }
    }

    /** {@link #writeContents} and {@link #sinceByClass} in one. */
    public static long writeContentsSince(Object operand, int site) {
        try {
            return operand != null && ScissionContents.write(current(), operand, site)
                ? ScissionEvents.tickets()
                : ScissionCalls.NOT_CONCURRENT;
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
            return ScissionCalls.NOT_CONCURRENT;
        }
    }

    /** After a call, before it is reported: how many events had been reported before it. */
    public static void interval(long since) {
        ScissionThread s = Thread.currentThread().$scission;
        if (s != null) {
            s.since = since;
        }
    }

    /** After a call by an interface: {@link #interval} and {@link #call}, if the object is a concurrent collection. */
    public static void concurrent(long since, Object operand, int op, int site) {
        if (since != ScissionCalls.NOT_CONCURRENT) {
            ScissionCalls.concurrent(since, operand, op, site);
        }
    }

    /** The same for a call that is about the entry with this key alone. */
    public static void concurrentEntry(long since, Object key, Object operand, int op, int site) {
        if (since != ScissionCalls.NOT_CONCURRENT) {
            ScissionCalls.concurrentEntry(since, key, operand, op, site);
        }
    }

    /** After a call: does {@link #call} if the result is nothing. */
    public static void callIfNone(Object result, Object operand, int op, int site) {
        if (result == null) {
            call(operand, op, site);
        }
    }

    /** The contents of a collection or the like, or of what it is a view of, are about to be read. */
    public static void readContents(Object object, int site) {
        try {
            if (object != null) {
                ScissionContents.read(current(), object, site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** The contents of a collection or the like, or of what it is a view of, are about to be written. */
    public static void writeContents(Object object, int site) {
        try {
            if (object != null) {
                ScissionContents.write(current(), object, site);
            }
        } catch (VirtualMachineError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** An object was made as a copy of another by {@code Object.clone}. */
    public static void cloned(Object copy) {
        try {
            if (copy != null) {
                ScissionCopies.clear(copy);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A method {@code clone} of an object has returned another, perhaps. */
    public static void copied(Object of, Object copy) {
        try {
            if (of != null && copy != null && of != copy && of.getClass() == copy.getClass()) {
                ScissionCopies.clearCopied(of, copy);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** After a call: the first object is a view of the second. */
    public static void alias(Object view, Object of, int site) {
        try {
            if (view != null && of != null && view != of) {
                ScissionThread s = ScissionOrder.quieten();
                try {
                    ScissionCalls.alias(s, view, of);
                } finally {
                    ScissionOrder.leaveMode(s);
                }
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    // ------------------------------------------------------------------ the adversary

    /** An object is about to be accessed, or its monitor entered. */
    public static void approach(Object object, int site) {
        try {
            if (ScissionAdversary.isSuspect(site) && object != null) {
                long entry = entry(site);
                long w = ScissionSites.isField(entry) ? ScissionSites.wordOfWrites(entry) : 0;
                ScissionAdversary.hold(current(), object, w, site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A static field is about to be accessed. */
    public static void approachStatic(int site) {
        try {
            if (ScissionAdversary.isSuspect(site)) {
                long entry = entry(site);
                long w = ScissionSites.isStatic(entry) ? ScissionSites.wordOfWrites(entry) : 0;
                ScissionAdversary.hold(current(), null, w, site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A method is about to be called. */
    public static void approachCall(int site) {
        try {
            ScissionThread s = current();
            s.lastCall = site;
            if (ScissionAdversary.isSuspect(site)) {
                ScissionAdversary.hold(s, null, 0, site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    // ------------------------------------------------------------------ branches

    /** An int is about to decide a branch. */
    public static void branch(int value, int opcode, int site) {
        if (opcode >= 0x99 && opcode <= 0x9e) {
            branched(way(value, opcode) == 0, site);
        } else {
            branched(2, value, site);
        }
    }

    /** A reference is about to decide a branch. */
    public static void branch(Object value, int opcode, int site) {
        branched(way(value, opcode) == 0, site);
    }

    /** Two ints are about to decide a branch. */
    public static void branch(int left, int right, int opcode, int site) {
        branched(way(left, right, opcode) == 0, site);
    }

    /** Two references are about to decide a branch. */
    public static void branch(Object left, Object right, int opcode, int site) {
        branched(way(left, right, opcode) == 0, site);
    }

    private static void branched(boolean taken, int site) {
        branched(taken ? 1 : 0, 0, site);
    }

    private static void branched(int way, int value, int site) {
        try {
            ScissionEvents.emit(current(), EVENT_BRANCH, site, way, value);
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    // ------------------------------------------------------------------ sides that are not taken

    /** A method begins whose branches have trees. */
    public static void enterSides(int site) {
        try {
            if (!ScissionSides.isRetired(site)) {
                ScissionSides.enter(current(), site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A method ends whose branches have trees. */
    public static void leaveSides(int site) {
        try {
            if (!ScissionSides.isRetired(site)) {
                ScissionSides.leave(current(), site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** Sides of branches meet. */
    public static void rejoin(int depth, int site) {
        try {
            if (!ScissionSides.isRetired(site)) {
                ScissionThread s = current();
                if (ScissionSides.hasOpenChoices(s)) {
                    ScissionSides.rejoin(s, depth, site);
                }
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A reference that the next branch starts from, besides those that its hook is given. */
    public static void root(Object value, int register, int site) {
        try {
            if (!ScissionSides.isTold(site)) {
                ScissionSides.root(current(), value, register);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A number that the next branch starts from. */
    public static void root(int value, int register, int site) {
        try {
            if (!ScissionSides.isTold(site)) {
                ScissionSides.root(current(), ScissionSides.number(value), register);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** Which way a branch on an int goes. */
    public static int way(int value, int opcode) {
        switch (opcode) {
            case 0x99: return value == 0 ? 0 : 1;
            case 0x9a: return value != 0 ? 0 : 1;
            case 0x9b: return value < 0 ? 0 : 1;
            case 0x9c: return value >= 0 ? 0 : 1;
            case 0x9d: return value > 0 ? 0 : 1;
            default: return value <= 0 ? 0 : 1;
        }
    }

    /** Which way a branch on a reference goes. */
    public static int way(Object value, int opcode) {
        return (value == null) == (opcode == 0xc6) ? 0 : 1;
    }

    /** Which way a branch on two ints goes. */
    public static int way(int left, int right, int opcode) {
        switch (opcode) {
            case 0x9f: return left == right ? 0 : 1;
            case 0xa0: return left != right ? 0 : 1;
            case 0xa1: return left < right ? 0 : 1;
            case 0xa2: return left >= right ? 0 : 1;
            case 0xa3: return left > right ? 0 : 1;
            default: return left <= right ? 0 : 1;
        }
    }

    /** Which way a branch on two references goes. */
    public static int way(Object left, Object right, int opcode) {
        return (left == right) == (opcode == 0xa5) ? 0 : 1;
    }

    /** A branch is about to be decided, in a class, with what its sides start from. */
    public static void decide(int way, Class<?> from, Object first, Object second, Object third, int site) {
        try {
            // What one thread does alone is ordered before whatever it starts.
            if (!ScissionSides.isTold(site) && ScissionEpochs.hasThreads) {
                ScissionSides.decide(current(), way, 0, from, first, second, third, site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** The same for a switch. */
    public static void decideSwitch(int value, Class<?> from, Object first, Object second, Object third, int site) {
        try {
            // What one thread does alone is ordered before whatever it starts.
            if (!ScissionSides.isTold(site) && ScissionEpochs.hasThreads) {
                ScissionSides.decide(current(), ScissionTrees.WAY_CASE, value, from, first, second, third, site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }
}
