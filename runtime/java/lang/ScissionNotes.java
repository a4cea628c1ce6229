package java.lang;

import static java.lang.ScissionConfiguration.NOTES;
import static java.lang.ScissionConfiguration.NO_NOTES;
import static java.lang.ScissionProtocol.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The notes that threads take of their reads of shared variables, each in a region of its own: a word for each
 * variable, by the index that the variable has in place of a word of reads.
 */
final class ScissionNotes {
    private static final Unsafe U = Unsafe.getUnsafe();

    static final long SHARED_INDEX = (1L << SHARED_BITS) - 1;
    /** A word R of a variable that found no index any more: the last index, which no variable gets. */
    static final long READ_SHARED = -1;

    private static int sharedVariables;
    /** A thread that looks for notes must see the regions that others had taken when they noted something. */
    private static volatile int usedRegions;
    private static final int[] FREE_REGIONS = new int[REGIONS];
    private static int freeRegions;

    private ScissionNotes() {}

    /** Where a thread notes its reads of the variable with this word. */
    @ForceInline
    static long noteOf(ScissionThread s, long read) {
        return s.notes + ((read & SHARED_INDEX) << 3);
    }

    /** An index for the notes of a variable that several threads read. */
    static synchronized long shareReads() {
        return sharedVariables < SHARED_INDEX ? Long.MIN_VALUE | sharedVariables++ : READ_SHARED;
    }

    /** Whether a thread has a region for its notes; it gets one if there is one. */
    static boolean takesNotes(ScissionThread s) {
        return s.notes != NO_NOTES || takeRegion(s);
    }

    @DontInline
    private static synchronized boolean takeRegion(ScissionThread s) {
        if (freeRegions > 0) {
            s.region = FREE_REGIONS[--freeRegions];
        } else if (usedRegions < REGIONS) {
            s.region = usedRegions++;
        } else {
            return false;
        }
        s.notes = NOTES + ((long) s.region << SHARED_BITS + 3);
        return true;
    }

    /** Gives the region of a thread that has ended to the next; its notes stay until they are needed. */
    static synchronized void returnRegion(ScissionThread s) {
        if (s.notes != NO_NOTES) {
            s.notes = NO_NOTES;
            FREE_REGIONS[freeRegions++] = s.region;
        }
    }

    /**
     * Reports and clears what all threads have noted of their reads of a variable. The note of a read that its thread has
     * reported itself is negative.
     */
    static void collectReads(ScissionThread s, long read, long first, long second) {
        long note = NOTES + ((read & SHARED_INDEX) << 3);
        int regions = usedRegions;
        for (int region = 0; region < regions; region++) {
            // The write of a volatile variable has said that it is under way. A reader that has not seen that when
            // it had noted its read must be found here; so this load must not go ahead of what was said.
            long noted = U.getLongVolatile(null, note);
            if (noted != 0) {
                noted = U.getAndSetLong(null, note, 0);
                if (noted > 0 && ScissionEpochs.owner(noted) != s.number) {
                    ScissionEvents.earlier(EVENT_EARLIER_READ, noted, first, second);
                }
            }
            note += 1L << SHARED_BITS + 3;
        }
    }
}
