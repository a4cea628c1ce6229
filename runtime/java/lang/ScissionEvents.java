package java.lang;

import static java.lang.ScissionConfiguration.EMITS;
import static java.lang.ScissionConfiguration.OWNERSHIP;
import static java.lang.ScissionProtocol.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** How events get out: the ring that all threads write to, and the stacks of where they were reported first. */
final class ScissionEvents {
    private static final Unsafe U = Unsafe.getUnsafe();

    private static final long RING = ScissionNatives.configuration(WORD_RING);
    private static final long TAIL = ScissionNatives.configuration(WORD_TAIL);
    private static final long HEAD = ScissionNatives.configuration(WORD_HEAD);
    private static final long RING_MASK = RING_SLOTS - 1;

    /** How many failures of hooks have been reported. Threads that do so at the same time report one of them twice. */
    private static int reportedFailures;

    private ScissionEvents() {}

    /**
     * Reports an event of a thread in its current epoch, after the blocks that have begun since it last
     * reported something.
     */
    static void emit(ScissionThread s, int kind, int site, long first, long second) {
        if (EMITS && !isLeftOut(s, kind)) {
            prepare(s, kind, site);
            put(s.number, kind, site, s.epoch >>> SITE_BITS, first, second);
        }
    }

    /** The same, of a place that the thread is not at: how it came here says nothing of how it would have come there. */
    static void emitWithoutStack(ScissionThread s, int kind, int site, long first, long second) {
        if (EMITS && !isLeftOut(s, kind)) {
            prepare(s, kind, 0);
            put(s.number, kind, site, s.epoch >>> SITE_BITS, first, second);
        }
    }

    /**
     * Reports an access that is not one step with its report: what has a ticket below {@code since} was over when it
     * began. With 0 nothing is known of when that was.
     */
    static void emitSince(ScissionThread s, int kind, int site, long first, long second, long since) {
        if (EMITS && !isLeftOut(s, kind)) {
            prepare(s, kind, site);
            long ticket = ticket();
            long overlaps = Math.min(ticket - since, MOST_OVERLAPS);
            write(ticket, s.number, kind, site, s.epoch >>> SITE_BITS, first, second | overlaps << OVERLAPS_SHIFT);
        }
    }

    private static final long MOST_OVERLAPS = -1L >>> OVERLAPS_SHIFT;

    /** How many tickets have been drawn. */
    @ForceInline
    static long tickets() {
        return U.getLongVolatile(null, TAIL);
    }

    /** What a block does, other than ordering its thread with others. */
    private static final long OF_BLOCKS = 1L << EVENT_READ | 1L << EVENT_WRITE | 1L << EVENT_VOLATILE_READ
        | 1L << EVENT_VOLATILE_WRITE | 1L << EVENT_ATOMIC_UPDATE | 1L << EVENT_ATOMIC_ADD | 1L << EVENT_ATOMIC_SWAP | 1L << EVENT_ACQUIRE | 1L << EVENT_ACQUIRE_SHARED
        | 1L << EVENT_RELEASE | 1L << EVENT_RELEASE_SHARED | 1L << EVENT_WAIT | 1L << EVENT_WOKEN | 1L << EVENT_NOTIFY
        | 1L << EVENT_NOTIFY_ALL | 1L << EVENT_CHOICE | 1L << EVENT_REJOIN;

    /** Whether an event lies in a block that is left out. */
    @ForceInline
    private static boolean isLeftOut(ScissionThread s, int kind) {
        return ScissionConfiguration.LEAVES_OUT && s.isLeftOut && (OF_BLOCKS >>> kind & 1) != 0;
    }

    /** What is reported before an event of a thread at this site. */
    private static void prepare(ScissionThread s, int kind, int site) {
        if (s.waiting != 0 && kind != EVENT_WOKEN) {
            // A wait that ended with an exception has its monitor back as well.
            ScissionLocks.woken(s);
        }
        int missed = ScissionFailures.hooks;
        if (missed != reportedFailures) {
            reportedFailures = missed;
            put(s.number, EVENT_MISSED, 0, s.epoch >>> SITE_BITS, 0, 0);
        }
        int blocks = ScissionConfiguration.NESTED_BLOCKS ? s.depth : s.isLeftOut ? 0 : Math.min(s.depth, 1);
        while (s.reported < blocks) {
            long block = s.blocks[s.reported];
            put(s.number, EVENT_BEGIN, ScissionEpochs.site(block), block >>> SITE_BITS, 0, 0);
            s.reported++;
        }
        if (kind != EVENT_END && ScissionSites.isSite(site)) {
            noteStack(s, site);
        }
    }

    /** Reports that the blocks have begun that are open, without waiting for the next event. */
    static void reportBlocks(ScissionThread s) {
        if (EMITS) {
            prepare(s, EVENT_BEGIN, 0);
        }
    }

    /** Reports that a block was cut. What waits for the next event, such as the beginnings of other blocks, still waits. */
    static void endOfUnit(ScissionThread s, int site) {
        if (EMITS) {
            put(s.number, EVENT_END, site, s.epoch >>> SITE_BITS, 0, 0);
        }
    }

    /** Reports what a word holds, on behalf of the thread that did it. */
    static void earlier(int kind, long word, long first, long second) {
        // A word without a site is no access; see `ScissionFilters.mark`.
        if (EMITS && OWNERSHIP && ScissionEpochs.site(word) != 0) {
            long epoch = word << 1 >>> SITE_BITS + 1;
            put(ScissionEpochs.owner(word), kind, ScissionEpochs.site(word), epoch, first, second);
        }
    }

    /** Reports the release that the word of a place stands for, on behalf of the thread that made it. */
    static void earlierRelease(long word, long place) {
        long epoch = word << 1 >>> SITE_BITS + 1;
        put(ScissionEpochs.owner(word), EVENT_EARLIER_ORDER_RELEASE, 0, epoch, place, 0);
    }

    /** Reports what the watchdog knows of a thread that cannot do so itself: it is blocked. */
    static void onBehalf(ScissionThread s, int kind, int site, long first, long second) {
        put(s.number, kind, site, s.epoch >>> SITE_BITS, first, second);
    }

    /** The low bits of a ticket are its slot, the others its lap. */
    private static final int RING_BITS = Long.bitCount(RING_MASK);

    // What the first word of a slot and HEAD say besides; see `lib.rs` of `event_ring`.
    private static final long WITHHELD = Long.MIN_VALUE;
    private static final long ABANDONED = -1;
    private static final long CAREFUL = Long.MIN_VALUE / 2;

    /** Reports a record. */
    private static void put(int thread, int kind, int site, long epoch, long first, long second) {
        write(ticket(), thread, kind, site, epoch, first, second);
    }

    /**
     * Draws a ticket that has room. With {@link #write} this is {@code Ring::put} of the crate {@code event_ring}, line by line, with the orderings
     * that it has there or stronger ones. That crate has the argument and the exploration of the protocol: whoever
     * changes one changes the other.
     */
    @ForceInline
    private static long ticket() {
        long ticket = U.getAndAddLong(null, TAIL, 1);
        if (ticket - U.getLongAcquire(null, HEAD) > RING_MASK) {
            ticket = ticketWithRoom(ticket);
        }
        return ticket;
    }

    /** Writes the record of a ticket. */
    @ForceInline
    private static void write(
            long ticket, int thread, int kind, int site, long epoch, long first, long second) {
        long slot = RING + ((ticket & RING_MASK) << SLOT_BITS);
        U.putLong(slot + SLOT_EPOCH, epoch);
        U.putLong(slot + SLOT_FIRST, first);
        U.putLong(slot + SLOT_SECOND, second);
        // A hook may have been given a number that is no site.
        long place = site & SITES - 1;
        long head = (long) kind << HEAD_KIND_SHIFT | place << HEAD_SITE_SHIFT | thread & 0xffffffffL;
        U.putLongRelease(null, slot, head);
    }

    /** Waits until a ticket has room; or draws others, until one has a slot that may be written. */
    @DontInline
    private static long ticketWithRoom(long ticket) {
        int waits = 0;
        while (true) {
            long head = U.getLongAcquire(null, HEAD);
            if (ticket - head <= RING_MASK) {
                return ticket;
            }
            if (head >= 0 || ticket - (head - CAREFUL) > RING_MASK) {
                ScissionNatives.waitForRoom(waits++);
                continue;
            }
            long slot = RING + ((ticket & RING_MASK) << SLOT_BITS);
            long lap = ticket >>> RING_BITS;
            long usedFor = U.getLongOpaque(null, slot);
            if (usedFor == lap) {
                return ticket;
            }
            if (usedFor == WITHHELD + lap) {
                U.putLongRelease(null, slot, ABANDONED);
            }
            ticket = U.getAndAddLong(null, TAIL, 1);
        }
    }

    // ------------------------------------------------------------------ stacks

    /** How many stacks are taken. What is reported elsewhere after that has its place only. */
    private static final int MAX_STACKS = 50_000;
    private static final int STACK_BITS = 17;

    /**
     * Where stacks were taken: hashes of a site and the four innermost blocks, with open addressing; 0 is
     * free. Never more than half full, and read by every report but written rarely, so that all threads
     * share it and none needs a cache of its own. Who sees a key late looks again under the lock.
     */
    private static final long[] STACKS = new long[EMITS ? 1 << STACK_BITS : 0];
    private static int stacks;

    /** The number of an open block, counted from the innermost one; 0 if so many are not open. */
    private static int open(ScissionThread s, int inwards) {
        return inwards < s.depth ? ScissionEpochs.site(s.blocks[s.depth - 1 - inwards]) : 0;
    }

    /** Takes the stack if it is the first one here, inside these blocks. The caller reports something here. */
    static void noteStack(ScissionThread s, int site) {
        // A sum of products: the processor works them out side by side.
        long key = site * 0x9e3779b97f4a7c15L + open(s, 0) * 0xbf58476d1ce4e5b9L
            + open(s, 1) * 0x94d049bb133111ebL + open(s, 2) * 0xd6e8feb86659fd93L
            + open(s, 3) * 0xa0761d6478bd642fL;
        key = (key ^ key >>> 32) * 0xe7037ed1a0b428dbL | 1;
        if (STACKS[(int) (key >>> 64 - STACK_BITS)] != key) {
            lookForStack(s, site, key);
        }
    }

    @DontInline
    private static void lookForStack(ScissionThread s, int site, long key) {
        int at = (int) (key >>> 64 - STACK_BITS);
        while (STACKS[at] != 0) {
            if (STACKS[at] == key) {
                return;
            }
            at = at + 1 & (1 << STACK_BITS) - 1;
        }
        if (stacks < MAX_STACKS && claimStack(key, at)) {
            ScissionNatives.addStack(s.number, site, open(s, 0), open(s, 1), open(s, 2), open(s, 3));
        }
    }

    /** Whether this thread is the one to take a stack. */
    private static synchronized boolean claimStack(long key, int at) {
        while (STACKS[at] != 0) {
            if (STACKS[at] == key) {
                return false;
            }
            at = at + 1 & (1 << STACK_BITS) - 1;
        }
        STACKS[at] = key;
        stacks++;
        return true;
    }
}
