package java.lang;

import static java.lang.ScissionConfiguration.NO_NOTES;
import static java.lang.ScissionProtocol.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The notes that threads take of their reads of shared variables, each in a region of its own: a word for each
 * variable, by the index that the variable has in place of a word of reads.
 *
 * <p>Whoever collects the notes of a variable need not look at the regions of all threads: a word for each index says which
 * may have one, bit {@code n} for the regions with this number modulo 64. A bit is set behind the first note and is never
 * cleared as long as the index is that of the variable, so that a thread which renews its note need not look at it. A note whose bit
 * is not set yet is found by the next write, as one is that comes a moment later.
 *
 * <p><b>Memory.</b> Regions are addresses without memory behind them at first. A thread notes something in a page only when that
 * was counted, and once all pages together are as many as they may be, it reports its reads of other variables
 * one by one. An index belongs to its variable as long as that lives: a write takes the notes and leaves the index, since a thread
 * that has just read it would else note what is another variable by then. Arrays give the indices of their elements back
 * when they are gone; no hook can come with one of these.
 */
final class ScissionNotes {
    private static final Unsafe U = Unsafe.getUnsafe();

    static final long SHARED_INDEX = (1L << SHARED_BITS) - 1;
    /** A word R of a variable that found no index any more: the last index, which no variable gets. */
    static final long READ_SHARED = -1;

    /** The words that say which regions have notes, by index; for an index that is free, the next one. */
    private static final long NOTERS = ScissionNatives.configuration(WORD_NOTERS);
    /** The pages that notes may take: at least half a gigabyte, or a fourth of what the program may use itself. */
    private static final long MOST_PAGES =
        Math.max(1L << 29, Runtime.getRuntime().maxMemory() / 4) >> NOTE_PAGE_BITS + 3;

    /** The first index that no variable has had. Those below the first one here are for volatile variables. */
    private static long nextIndex = 1L << VOLATILE_BITS;
    private static int volatileVariables;
    /** The first index that was given back, 0 if none is left. */
    private static long freeIndex;
    private static long openNoters;

    /** The addresses of the regions. */
    private static final long[] REGION_NOTES = new long[REGIONS];
    /** Which parts of them are writable, one bit each. */
    private static final long[] OPEN_STEPS = new long[REGIONS];
    /** A thread that looks for notes must see the regions that others had taken when they noted something. */
    private static volatile int usedRegions;
    private static int mostRegions = REGIONS;
    private static final int[] FREE_REGIONS = new int[REGIONS];
    private static int freeRegions;
    private static long pages;

    private ScissionNotes() {}

    /** Where a thread notes its reads of the variable with this word, or this index. */
    @ForceInline
    static long noteOf(ScissionThread s, long read) {
        return s.notes + ((read & SHARED_INDEX) << 3);
    }

    /** An index for the notes of a variable that several threads read, as its word R. */
    static synchronized long shareReads() {
        long index = freeIndex;
        if (index != 0) {
            freeIndex = U.getLong(NOTERS + (index << 3));
            U.putLong(NOTERS + (index << 3), 0);
            // Whoever sees the index in the word R of its next variable sees that nobody has noted anything of it.
            U.storeFence();
        } else if (nextIndex < SHARED_INDEX && canHaveNoters(nextIndex)) {
            index = nextIndex++;
        } else {
            return READ_SHARED;
        }
        return Long.MIN_VALUE | index;
    }

    /** The same for a volatile variable, as {@code VOLATILE_BITS} bits; all ones if there is none left. */
    static synchronized long shareVolatileReads() {
        long last = (1L << VOLATILE_BITS) - 1;
        return volatileVariables < last && canHaveNoters(volatileVariables) ? volatileVariables++ : last;
    }

    private static boolean canHaveNoters(long index) {
        long step = 1L << (index >>> NOTE_STEP_BITS);
        if ((openNoters & step) == 0 && ScissionNatives.openNotes(REGIONS, (int) (index >>> NOTE_STEP_BITS))) {
            openNoters |= step;
        }
        return (openNoters & step) != 0;
    }

    /** Gives back the index of a variable that is gone. What was noted of it can conflict with nothing any more. */
    static synchronized void giveBack(long index) {
        if (index != SHARED_INDEX) {
            long noters = U.getLongVolatile(null, NOTERS + (index << 3));
            for (long left = noters; left != 0; left &= left - 1) {
                for (int region = Long.numberOfTrailingZeros(left); region < usedRegions; region += 64) {
                    long note = REGION_NOTES[region] + (index << 3);
                    // Only what was noted before can be written.
                    if (U.getLongVolatile(null, note) != 0) {
                        U.putLong(note, 0);
                    }
                }
            }
            U.putLong(NOTERS + (index << 3), freeIndex);
            freeIndex = index;
        }
    }

    /** Whether a thread can note its reads of the variable with this index. */
    static boolean takesNote(ScissionThread s, long index) {
        return index != SHARED_INDEX && (U.getByte(pageOf(s, index)) != 0 || openPage(s, index));
    }

    private static long pageOf(ScissionThread s, long index) {
        return s.notes + NOTE_PAGES + (index >>> NOTE_PAGE_BITS);
    }

    @DontInline
    private static boolean openPage(ScissionThread s, long index) {
        // Without the lock first: there may be many threads without a region, and many variables without a page.
        return pages < MOST_PAGES
            && (s.notes != NO_NOTES || freeRegions > 0 || usedRegions < mostRegions)
            && countPage(s, index);
    }

    private static synchronized boolean countPage(ScissionThread s, long index) {
        if (s.notes == NO_NOTES && !takeRegion(s)) {
            return false;
        }
        long page = pageOf(s, index);
        if (U.getByte(page) == 0) {
            // It may be that of a thread before.
            int step = (int) (index >>> NOTE_STEP_BITS);
            if (pages >= MOST_PAGES
                || (OPEN_STEPS[s.region] & 1L << step) == 0 && !ScissionNatives.openNotes(s.region, step)) {
                return false;
            }
            OPEN_STEPS[s.region] |= 1L << step;
            pages++;
            U.putByte(page, (byte) 1);
        }
        return true;
    }

    private static boolean takeRegion(ScissionThread s) {
        if (freeRegions > 0) {
            s.region = FREE_REGIONS[--freeRegions];
        } else if (usedRegions < mostRegions) {
            long notes = ScissionNatives.notes(usedRegions);
            if (notes == 0) {
                mostRegions = usedRegions;
                return false;
            }
            REGION_NOTES[usedRegions] = notes;
            s.region = usedRegions++;
        } else {
            return false;
        }
        s.notes = REGION_NOTES[s.region];
        return true;
    }

    /** Gives the region of a thread that has ended to the next; its notes stay until they are needed. */
    static synchronized void returnRegion(ScissionThread s) {
        if (s.notes != NO_NOTES) {
            s.notes = NO_NOTES;
            FREE_REGIONS[freeRegions++] = s.region;
        }
    }

    /** A thread has noted a read of a variable, of which its region had no note. */
    static void noted(ScissionThread s, long index) {
        long noters = NOTERS + (index << 3);
        long bit = 1L << s.region;
        long before;
        do {
            before = U.getLongVolatile(null, noters);
        } while ((before & bit) == 0 && !U.compareAndSetLong(null, noters, before, before | bit));
    }

    /**
     * Reports and clears what all threads have noted of their reads of a variable. The note of a read that its thread has
     * reported itself is negative.
     */
    static void collectReads(ScissionThread s, long index, long first, long second) {
        if (index == SHARED_INDEX) {
            return;
        }
        // The write of a volatile variable has said that it is under way. A reader that has not seen that when
        // it had noted its read must be found here; so these loads must not go ahead of what was said.
        long noters = U.getLongVolatile(null, NOTERS + (index << 3));
        int regions = usedRegions;
        for (long left = noters; left != 0; left &= left - 1) {
            for (int region = Long.numberOfTrailingZeros(left); region < regions; region += 64) {
                long note = REGION_NOTES[region] + (index << 3);
                long noted = U.getLongVolatile(null, note);
                if (noted != 0) {
                    noted = U.getAndSetLong(null, note, 0);
                    if (noted > 0 && ScissionEpochs.owner(noted) != s.number) {
                        ScissionEvents.earlier(EVENT_EARLIER_READ, noted, first, second);
                    }
                }
            }
        }
    }
}
