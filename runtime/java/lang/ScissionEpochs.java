package java.lang;

import static java.lang.ScissionProtocol.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Threads and their epochs.
 *
 * <p>An epoch belongs to one thread. It ends when the thread begins an atomic block, and at every operation that orders
 * it with other threads, in either direction. Epoch numbers are handed out to threads in blocks of {@code 2^EPOCH_BITS};
 * a table says which thread a block belongs to.
 */
final class ScissionEpochs {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** The number of the thread that each block of epochs belongs to, an int each. */
    private static final long OWNERS = ScissionNatives.configuration(WORD_OWNERS);
    private static final long NEXT_BLOCK = ScissionNatives.configuration(WORD_NEXT_BLOCK);

    private static final long NEXT_EPOCH = 1L << SITE_BITS;
    /** The bits that are all zero in the first epoch of a block. */
    private static final long WITHIN_BLOCK = (1L << EPOCH_BITS) - 1 << SITE_BITS;

    /**
     * Whether a second thread has shown itself; one of the JVM, when it begins a block. Before that nothing can come
     * between two accesses, and blocks inside others begin no epoch. So of the blocks that are open at that moment, a block may be
     * blamed although a shorter one inside it would do; the verdict is the same. That goes for a thread that sees
     * it late, too: a thread that another one starts is seen by that one at once.
     */
    static boolean hasThreads = !ScissionConfiguration.EPOCHS;

    /** Whether the numbers of epochs have begun anew, so that they do not say any more which came first. */
    static boolean hasRepeated;

    private ScissionEpochs() {}

    /** The state of this thread. */
    @ForceInline
    static ScissionThread current() {
        ScissionThread s = Thread.currentThread().$scission;
        return s != null ? s : newThread(Thread.currentThread());
    }

    @DontInline
    private static ScissionThread newThread(Thread thread) {
        ScissionThread s = attach(thread);
        ScissionEvents.emit(s, EVENT_THREAD_BEGIN, 0, 0, 0);
        return s;
    }

    /** Gives a thread its state; the caller is that thread, or the one that is about to start it. */
    static ScissionThread attach(Thread thread) {
        boolean isVirtual = thread.getClass().getName().equals("java.lang.VirtualThread");
        int number = ScissionNatives.threadNumber(thread.getName(), isVirtual);
        // The first thread that a JVM makes runs `main`; a class that extends Thread may say anything.
        boolean isMain = thread.getClass() == Thread.class && thread.getId() == 1;
        ScissionThread s = new ScissionThread(number, isMain);
        takeBlock(s);
        // Library code that is used from here on finds the state, and does not ask for it again.
        ScissionOrder.enterMode(s, ORDER_QUIET);
        thread.$scission = s;
        s.isOfJvm = !isVirtual && isOfJvm(thread.getThreadGroup());
        hasThreads |= s.number > 0 && !s.isOfJvm;
        if (ScissionAdversary.IS_AT_WORK) {
            ScissionAdversary.enter(thread, s);
        }
        if (ScissionWatchdog.IS_AT_WORK) {
            ScissionWatchdog.enter(thread, s);
        }
        ScissionOrder.leaveMode(s);
        return s;
    }

    /** Whether a thread of this group is one of the JVM itself; a thread that has ended has none. */
    private static boolean isOfJvm(ThreadGroup group) {
        return group == null || group.getParent() == null;
    }

    /** Begins a new epoch, at an operation that orders the thread with others. */
    @ForceInline
    static void beginEpoch(ScissionThread s) {
        splitEpoch(s);
        if (ScissionConfiguration.LOCKSETS) {
            s.stretch = s.epoch;
        }
    }

    /** Begins a new epoch, for what is not ordered otherwise than what came before. */
    @ForceInline
    static void splitEpoch(ScissionThread s) {
        long next = s.epoch + NEXT_EPOCH;
        s.epoch = next;
        s.readEpoch = s.isOptimistic ? OPTIMISTIC : next;
        if ((next & WITHIN_BLOCK) == 0) {
            takeBlock(s);
        }
    }

    /** What no word of a variable holds, so that no read is taken for one that was noted before. */
    private static final long OPTIMISTIC = -1L << EPOCH_BITS + SITE_BITS;

    /**
     * Whether the thread reads without a lock, and asks afterwards whether it may rely on what it has read. If it may, nobody
     * wrote in between who holds the lock; if not, it forgets what it has read. In neither case do these reads race, and they
     * are neither reported nor noted. A thread that takes a lock or ends its blocks does so no more, whether it has asked or
     * not.
     */
    static void readOptimistically(ScissionThread s, boolean isOptimistic) {
        s.isOptimistic = isOptimistic;
        s.readEpoch = isOptimistic ? OPTIMISTIC : s.epoch;
    }

    /** Gives the thread the next block of epochs. */
    @DontInline
    private static void takeBlock(ScissionThread s) {
        // No block has the number 0, with which the word of a variable that nobody has used would be in it.
        long drawn = U.getAndAddLong(null, NEXT_BLOCK, 1);
        hasRepeated |= drawn >= EPOCH_BLOCKS - 1;
        long block = drawn % (EPOCH_BLOCKS - 1) + 1;
        U.putInt(OWNERS + block * 4, s.number);
        // Whoever sees a word with such an epoch sees whose it is.
        U.storeFence();
        s.epoch = block << EPOCH_BITS + SITE_BITS;
        s.readEpoch = s.isOptimistic ? OPTIMISTIC : s.epoch;
    }

    /** The number of the thread whose epoch a word holds. */
    @ForceInline
    static int owner(long word) {
        // The shift to the left drops bit 63. The address comes from the word, so it is loaded after it.
        return U.getInt(OWNERS + (word << 1 >>> SITE_BITS + EPOCH_BITS + 1 << 2));
    }

    /** The site that a word holds. */
    @ForceInline
    static int site(long word) {
        return (int) word & SITES - 1;
    }

    /** Called by the agent when a thread ends. */
    static void threadEnd(Thread thread) {
        ScissionThread s = thread.$scission;
        if (s != null) {
            try {
                ScissionEvents.emit(s, EVENT_THREAD_END, 0, 0, 0);
            } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
                ScissionFailures.hooks++;
            }
            ScissionNotes.returnRegion(s);
            if (ScissionAdversary.IS_AT_WORK) {
                ScissionAdversary.leave(s);
            }
            if (ScissionWatchdog.IS_AT_WORK) {
                ScissionWatchdog.leave(s);
            }
        }
    }
}
