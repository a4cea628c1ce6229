package java.lang;

import static java.lang.ScissionConfiguration.LOCKSETS;
import static java.lang.ScissionConfiguration.VOLATILE_NOTES;
import static java.lang.ScissionEpochs.beginEpoch;
import static java.lang.ScissionEpochs.owner;
import static java.lang.ScissionEvents.earlier;
import static java.lang.ScissionEvents.emitSince;
import static java.lang.ScissionNotes.noteOf;
import static java.lang.ScissionNotes.takesNote;
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
 *
 * <p><b>Intervals.</b> R also counts the writes that are over, so that it says whether one was under way during an
 * access, and a report can say what was certainly over when the access began ({@code overlaps} of events):
 * <ul>
 * <li>A read happens between two looks at R. If both find no write under way and the same number of writes, then no write
 *     began or ended in between. A write that has drawn its ticket before the second look had begun by then, so it was
 *     over before the first look. The tickets that had been drawn are read just before the second look.
 * <li>A write looks at R when it begins and once more before it draws its ticket. If it finds no other write under way,
 *     then each write that had drawn its ticket before the second look is over: it had begun before, and nothing of
 *     this one has happened yet.
 * <li>What has been read is over when it is reported. A read that is noted and reported by a write happened
 *     before that write, which takes place after it has taken the note.
 * </ul>
 * In any other case nothing is said of when the access began. The count of writes has {@link #VERSION_BITS} bits, so that
 * a thread that stands still between two looks while exactly so many writes happen is mistaken.
 */
final class ScissionVolatile {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** The index of its notes in the word of a volatile variable; all ones if there was none left. */
    private static final long INDEX = (1L << VOLATILE_BITS) - 1;
    private static final int WRITER_BITS = 20;
    private static final int VERSION_BITS = 63 - VOLATILE_BITS - WRITER_BITS;
    /** Counts in the word R of a volatile variable the writes that are under way. */
    private static final long WRITER = 1L << VOLATILE_BITS;
    private static final long WRITERS = (1L << WRITER_BITS) - 1 << VOLATILE_BITS;
    /** Counts there the writes that are over. */
    private static final long VERSION = WRITER << WRITER_BITS;
    private static final long VERSIONS = (1L << VERSION_BITS) - 1 << VOLATILE_BITS + WRITER_BITS;

    /** A note of a read that its thread has reported itself. */
    private static final long REPORTED = Long.MIN_VALUE;

    private ScissionVolatile() {}

    /** Reports a read of a volatile variable without a word. */
    static void read(ScissionThread s, int site, long first, long second, long since) {
        beginEpoch(s);
        emitSince(s, EVENT_VOLATILE_READ, site, first, second, since);
    }

    /** Reports a write of a volatile variable. */
    static void write(ScissionThread s, int site, long first, long second, long since) {
        // It receives from the accesses that it follows, and is received from.
        beginEpoch(s);
        emitSince(s, EVENT_VOLATILE_WRITE, site, first, second, since);
        beginEpoch(s);
    }

    /** A volatile variable is about to be read. */
    static void beforeRead(ScissionThread s, Object base, long r, int site) {
        s.readWord = U.getLongVolatile(base, r);
        s.readSite = site;
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
        long note = noteOf(s, index & INDEX);
        long noted = U.getLongVolatile(null, note);
        if (noted == 0 || owner(noted) != s.number) {
            return false;
        }
        // Bit 63 does not count.
        return (noted ^ s.epoch) << 1 >>> SITE_BITS + 1 == 0
            || !LOCKSETS && U.compareAndSetLong(null, note, noted, s.epoch | site);
    }

    /** Reports a read of a volatile variable, and notes it before. */
    static void reportRead(
            ScissionThread s, Object base, long r, int site, long first, long second) {
        long before = s.readSite == site ? s.readWord : WRITERS;
        s.readSite = 0;
        beginEpoch(s);
        if (VOLATILE_NOTES) {
            long index = volatileIndex(base, r);
            if (index < 0 && (index & WRITERS) == 0 && (index & INDEX) != INDEX && takesNote(s, index & INDEX)) {
                long note = noteOf(s, index & INDEX);
                long word = REPORTED | s.epoch | site;
                long replaced = U.getAndSetLong(null, note, word);
                if (replaced > 0 && owner(replaced) != s.number) {
                    // A thread that has ended had this region before.
                    earlier(EVENT_EARLIER_READ, replaced, first, second);
                }
                if (replaced == 0) {
                    ScissionNotes.noted(s, index & INDEX);
                }
                if ((U.getLongVolatile(base, r) & WRITERS) != 0) {
                    U.compareAndSetLong(null, note, word, 0);
                }
            }
        }
        long tickets = ScissionEvents.tickets();
        long after = U.getLongVolatile(base, r);
        boolean isAlone = (before & WRITERS) == 0 && ((before ^ after) & (WRITERS | VERSIONS)) == 0;
        emitSince(s, EVENT_VOLATILE_READ, site, first, second, isAlone ? tickets : 0);
    }

    /** The word R of a volatile variable, which gets an index if it has none and nobody writes it. */
    private static long volatileIndex(Object base, long r) {
        long word = U.getLongVolatile(base, r);
        if (word < 0 || (word & WRITERS) != 0) {
            return word;
        }
        long fresh = Long.MIN_VALUE | ScissionNotes.shareVolatileReads();
        // Of two threads that come first, one wastes an index.
        return U.compareAndSetLong(base, r, word, word | fresh) ? word | fresh : U.getLongVolatile(base, r);
    }

    /** Reports a write of a volatile variable, and before it the reads that were noted. */
    static void reportWrite(
            ScissionThread s, Object base, long r, int site, long first, long second) {
        s.writeSite = 0;
        s.writtenObject = base;
        s.writtenWord = r;
        long word = U.getAndAddLong(base, r, WRITER);
        s.writeSite = site;
        if (VOLATILE_NOTES && word < 0) {
            ScissionNotes.collectReads(s, word & INDEX, first, second);
        }
        long tickets = ScissionEvents.tickets();
        boolean isAlone = (word & WRITERS) == 0 && (U.getLongVolatile(base, r) & WRITERS) == WRITER;
        write(s, site, first, second, isAlone ? tickets : 0);
    }

    /** The write that was reported is over. */
    static void written(ScissionThread s) {
        Object base = s.writtenObject;
        s.writtenObject = null;
        s.writeSite = 0;
        long word;
        long next;
        do {
            word = U.getLongVolatile(base, s.writtenWord);
            long over = word - WRITER;
            next = over & ~VERSIONS | over + VERSION & VERSIONS;
        } while (!U.compareAndSetLong(base, s.writtenWord, word, next));
    }
}
