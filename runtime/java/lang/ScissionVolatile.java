package java.lang;

import static java.lang.ScissionConfiguration.LOCKSETS;
import static java.lang.ScissionConfiguration.VOLATILE_NOTES;
import static java.lang.ScissionEpochs.beginEpoch;
import static java.lang.ScissionEpochs.owner;
import static java.lang.ScissionEvents.earlier;
import static java.lang.ScissionEvents.emit;
import static java.lang.ScissionNotes.READ_SHARED;
import static java.lang.ScissionNotes.SHARED_INDEX;
import static java.lang.ScissionNotes.noteOf;
import static java.lang.ScissionNotes.takesNotes;
import static java.lang.ScissionProtocol.*;

import jdk.internal.misc.Unsafe;

/**
 * Accesses to volatile variables.
 *
 * <p>They have the word R only: once a thread has read one, it holds an index for the
 * notes of each thread. A read is reported, and noted, when the thread has not read the variable since the last
 * write; a later one is only noted, since what it would receive has been received, and reported by the next write.
 * Volatile accesses order others, so here nothing may be lost by a race between two hooks. A write says in R that
 * it is under way, then takes and reports the notes, then is reported, and only then takes place. A read is noted
 * before it is reported, and the note is taken back if a write is under way. So while a note stands, its thread has
 * received from every write that was reported; and a thread that sees what was written finds its note gone.
 */
final class ScissionVolatile {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Counts in the word R of a volatile variable the writes that are under way. */
    private static final long WRITER = 1L << 40;
    private static final long WRITERS = (1L << 63) - WRITER;

    private ScissionVolatile() {}

    /** Reports a read of a volatile variable without a word. */
    static void read(ScissionThread s, int site, long first, long second) {
        beginEpoch(s);
        emit(s, EVENT_VOLATILE_READ, site, first, second);
    }

    /** Reports a write of a volatile variable without a word. */
    static void write(ScissionThread s, int site, long first, long second) {
        // It receives from the accesses that it follows, and is received from.
        beginEpoch(s);
        emit(s, EVENT_VOLATILE_WRITE, site, first, second);
        beginEpoch(s);
    }

    /** Whether a read of a volatile variable need not be reported now: the thread has read it since the last write. */
    static boolean isQuietRead(ScissionThread s, Object base, long r, int site) {
        if (!VOLATILE_NOTES) {
            return false;
        }
        long index = U.getLong(base, r);
        if (index >= 0) {
            return false;
        }
        long note = noteOf(s, index);
        long noted = U.getLongVolatile(null, note);
        if (noted == 0 || owner(noted) != s.number) {
            return false;
        }
        return (noted ^ s.epoch) >>> SITE_BITS == 0
            || !LOCKSETS && U.compareAndSetLong(null, note, noted, s.epoch | site);
    }

    /** Reports a read of a volatile variable, and notes it before. */
    static void reportRead(
            ScissionThread s, Object base, long r, int site, long first, long second) {
        beginEpoch(s);
        if (VOLATILE_NOTES && takesNotes(s)) {
            long index = volatileIndex(base, r);
            if (index < 0 && (index & WRITERS) == 0 && (index & SHARED_INDEX) != SHARED_INDEX) {
                long note = noteOf(s, index);
                long word = s.epoch | site;
                long before = U.getAndSetLong(null, note, word);
                if (before != 0 && owner(before) != s.number) {
                    // A thread that has ended had this region before.
                    earlier(EVENT_EARLIER_READ, before, first, second);
                }
                if ((U.getLongVolatile(base, r) & WRITERS) != 0) {
                    U.compareAndSetLong(null, note, word, 0);
                }
            }
        }
        emit(s, EVENT_VOLATILE_READ, site, first, second);
    }

    /** The word R of a volatile variable, which gets an index if it has none and nobody writes it. */
    private static long volatileIndex(Object base, long r) {
        long index = U.getLongVolatile(base, r);
        if (index != 0) {
            return index;
        }
        long fresh = ScissionNotes.shareReads();
        if (fresh == READ_SHARED) {
            fresh = Long.MIN_VALUE | SHARED_INDEX;
        }
        // Of two threads that come first, one wastes an index.
        return U.compareAndSetLong(base, r, 0, fresh) ? fresh : U.getLongVolatile(base, r);
    }

    /** Reports a write of a volatile variable, and before it the reads that were noted. */
    static void reportWrite(
            ScissionThread s, Object base, long r, int site, long first, long second) {
        if (!VOLATILE_NOTES) {
            write(s, site, first, second);
            return;
        }
        long index = U.getAndAddLong(base, r, WRITER);
        try {
            if (index < 0) {
                ScissionNotes.collectReads(s, index, first, second);
            }
            write(s, site, first, second);
        } finally {
            U.getAndAddLong(base, r, -WRITER);
        }
    }
}
