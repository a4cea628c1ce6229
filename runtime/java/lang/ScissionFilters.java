package java.lang;

import static java.lang.ScissionConfiguration.EPOCHS;
import static java.lang.ScissionConfiguration.KNOWS_PAST;
import static java.lang.ScissionConfiguration.LEAVES_OUT;
import static java.lang.ScissionConfiguration.LOCKSETS;
import static java.lang.ScissionConfiguration.NESTED_BLOCKS;
import static java.lang.ScissionConfiguration.OWNERSHIP;
import static java.lang.ScissionConfiguration.READS_BEFORE_WRITES;
import static java.lang.ScissionEpochs.beginEpoch;
import static java.lang.ScissionEpochs.owner;
import static java.lang.ScissionEpochs.splitEpoch;
import static java.lang.ScissionEvents.earlier;
import static java.lang.ScissionEvents.emit;
import static java.lang.ScissionNotes.READ_SHARED;
import static java.lang.ScissionNotes.SHARED_INDEX;
import static java.lang.ScissionNotes.noteOf;
import static java.lang.ScissionNotes.shareReads;
import static java.lang.ScissionNotes.takesNote;
import static java.lang.ScissionProtocol.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The filters that keep most accesses to ordinary variables from being reported.
 *
 * <p><b>Words.</b> Every watched variable has two words: R for its last noted read, W for its last noted
 * write. A word is an epoch and a site, {@code epoch << SITE_BITS | site}; 0 is "none". Bit 63 of W says that
 * another thread has read the variable since that write. Once several threads have read a variable
 * between two writes, R holds an index instead, with bit 63 set: each thread then notes its reads in a word
 * of its own at that index, so that readers do not take the word from each other. A write clears the notes of reads.
 *
 * <p><b>The epoch filter</b> drops an access to a variable that the same thread has accessed in the same
 * way in the same epoch, if no other thread came in between. Nothing is lost: between the two accesses the thread
 * began no block, received nothing and gave nothing away, so that every order that holds for one of them
 * holds for the other, and both lie in the same blocks.
 *
 * <p><b>The ownership filter</b> does not report an access at once that cannot be the target of an edge
 * from another thread, because every conflicting access before it is the thread's own or has been seen by
 * an earlier access of the thread. It is noted in the variable's word, and reported, with its
 * epoch, by the first thread whose access conflicts with it. Only the last read and the last write matter,
 * since the edges of older ones follow from the order within the thread. So objects that one thread uses
 * alone cost a comparison, or a store for each epoch, and no event.
 *
 * <p><b>The past.</b> What a thread did before it started this one, and what threads did that it had joined before, is
 * known to come first. An edge from there adds nothing to the order that the start and the joins give already: there is a
 * path wherever the edge would lead, and no race. So such an access is noted as if the other one were
 * the thread's own, in whose place it comes: whoever conflicts with the other one and does not come after this one either races
 * with it or comes before both. A write that is noted so clears the note of reads, for the other thread must not take its own
 * note as a sign that it has seen the last write. A read that is noted so does not set bit 63 of W, which would say that the
 * write had been reported; the second reader does, if the note of reads is not its own. This is for checkers that ask for
 * order alone, not for locks.
 *
 * <p><b>Locksets.</b> For checkers that look at the locks that are held at each access, edges are not all that
 * matters: an access of the last owner can be the first without the lock. For them a variable is under the
 * ownership filter only while one thread alone has ever used it. The second thread gives R an index for
 * good, and from then on every access is reported, once in each epoch; and so is every read of a volatile
 * variable, whoever has used it. Where reads of what nobody writes do not matter, that begins with the first write
 * of which it is not known that it came before all other threads: it sets bit 62 of R, and reports what each thread
 * read last. There, a thread also takes over what the one that
 * started it had for itself before: what that one did is reported, and the thread is the owner. That loses no lock set: an
 * epoch ends where a lock is taken or given back, so that the same locks are held at every access of one
 * epoch; and what was noted before the second thread came is reported as earlier accesses of a variable that
 * had one owner, whose locks do not count.
 *
 * <p><b>What is not exact.</b> The words are read and written without a lock: of two accesses that truly
 * race, at the same moment, the order may be seen wrongly, and one of them may be noted without being
 * reported.
 *
 * <p>The words of a variable are given as a base and two offsets: the object and offsets in it, or null and addresses.
 */
final class ScissionFilters {
    private static final Unsafe U = Unsafe.getUnsafe();

    private static final long READ_SINCE = 1L << 63;
    /** In an index of reads: the variable was written after a second thread had used it. */
    private static final long WRITTEN = 1L << 62;

    private ScissionFilters() {}

    /**
     * The common cases of a read that is not reported, short enough to be compiled into every access: the
     * thread has read the variable in this epoch, or not long ago and since the last write.
     */
    static boolean isQuietRead(ScissionThread s, Object base, long r, int site) {
        if (!EPOCHS) {
            return false;
        }
        long epoch = s.readEpoch;
        long read = U.getLong(base, r);
        if ((read ^ epoch) >>> SITE_BITS == 0) {
            return true;
        }
        if (OWNERSHIP && isNear(read, epoch)) {
            if (!LEAVES_OUT || !s.isLeftOut) {
                U.putLong(base, r, epoch | site);
            }
            return true;
        }
        return read < 0 && isQuietSharedRead(s, read, site);
    }

    /** The same for a variable whose reads are noted by thread. */
    private static boolean isQuietSharedRead(ScissionThread s, long read, int site) {
        long epoch = s.readEpoch;
        long note = noteOf(s, read);
        long noted = U.getLong(null, note);
        if ((noted ^ epoch) >>> SITE_BITS == 0) {
            return true;
        }
        if (OWNERSHIP && isNear(noted, epoch) && (!LOCKSETS || isQuietAgain(s, read, noted, site))) {
            if (!LEAVES_OUT || !s.isLeftOut) {
                U.putLong(null, note, epoch | site);
            }
            return true;
        }
        return false;
    }

    private static boolean isQuietAgain(ScissionThread s, long read, long noted, int site) {
        return !isLoud(read) || repeats(s, noted, siteToNote(s, site));
    }

    /**
     * Whether an access does what the one that is noted did, in no block, with nothing in between that orders the thread
     * with others. Checkers that look at the locks of such accesses want to know of each.
     */
    private static boolean repeats(ScissionThread s, long noted, int site) {
        return LOCKSETS && !READS_BEFORE_WRITES && s.depth == 0
            && noted >= s.stretch && ScissionEpochs.site(noted) == (site & SITES - 1);
    }

    /** The common cases of a write that is not reported: of a new object, or of one that only we use. */
    static boolean isQuietWrite(ScissionThread s, Object base, long r, long w, int site) {
        if (!EPOCHS) {
            return false;
        }
        long epoch = s.epoch;
        long write = U.getLong(base, w);
        if ((write ^ epoch) >>> SITE_BITS == 0) {
            return true;
        }
        if (OWNERSHIP && (write == 0 || isNear(write, epoch))) {
            long read = U.getLong(base, r);
            if (read == 0 || isNear(read, epoch)
                || LOCKSETS && write != 0 && repeats(s, write, siteToNote(s, site))) {
                if (!LEAVES_OUT || !s.isLeftOut || write == 0) {
                    U.putLong(base, w, epoch | (LEAVES_OUT ? siteToNote(s, site) : site));
                }
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a word holds an epoch of the block that the running thread has now, so that it is its own. Most are; of
     * others the table is asked, by code that is not compiled into every access.
     */
    @ForceInline
    private static boolean isNear(long word, long epoch) {
        return (word ^ epoch) >>> SITE_BITS + EPOCH_BITS == 0;
    }

    /** Whether an access that no other thread can know of is noted and not reported. */
    static final boolean NOTES_NEW = EPOCHS && OWNERSHIP;

    /**
     * Notes an access to a variable of an object that no other thread can know yet. What its words hold is this thread's
     * own, if they hold anything, so that all ways through {@link #noteRead} and {@link #noteWrite} end in this store; but
     * for accesses in the same epoch, of which the last site is kept here and the first one there.
     */
    @ForceInline
    static void noteNew(ScissionThread s, Object base, long word, int site) {
        U.putLong(base, word, s.epoch | siteToNote(s, site));
    }

    /**
     * What is noted in a block that is left out has no site, so that nobody reports it; and nothing is noted where the thread
     * has noted something before.
     */
    private static int siteToNote(ScissionThread s, int site) {
        return LEAVES_OUT && s.isLeftOut ? 0 : site;
    }

    /** Whether a read need not be reported now: it says nothing new, or it is noted. */
    static boolean noteRead(ScissionThread s, Object base, long r, long w, int site) {
        site = siteToNote(s, site);
        if (!EPOCHS) {
            beginEpoch(s);
        }
        long word = s.epoch | site;
        long write = U.getLong(base, w);
        long read = U.getLong(base, r);
        if (read < 0) {
            return noteSharedRead(s, read, write, word);
        }
        boolean isOwn = (write ^ word) >>> SITE_BITS == 0
            || OWNERSHIP && (read != 0 ? owner(read) == s.number : write == 0 || owner(write) == s.number)
            || KNOWS_PAST && isKnown(s, read) && isKnown(s, write);
        if (isOwn && (!LEAVES_OUT || read == 0 || site != 0)) {
            U.putLong(base, r, word);
        }
        return isOwn;
    }

    /** The same for a variable whose reads are noted by thread. */
    private static boolean noteSharedRead(ScissionThread s, long read, long write, long word) {
        if (!OWNERSHIP || isLoud(read) || !takesNote(s, read & SHARED_INDEX)) {
            return (write ^ word) >>> SITE_BITS == 0;
        }
        long note = noteOf(s, read);
        long noted = U.getLong(null, note);
        boolean isOwn = noted != 0
            ? owner(noted) == s.number
            : write << 1 == 0 || owner(write) == s.number;
        if (isOwn && (!LEAVES_OUT || noted == 0 || ScissionEpochs.site(word) != 0)) {
            U.putLong(null, note, word);
            if (noted == 0) {
                ScissionNotes.noted(s, read & SHARED_INDEX);
            }
        }
        return isOwn;
    }

    /** Whether a write need not be reported now. */
    static boolean noteWrite(ScissionThread s, Object base, long r, long w, int site) {
        site = siteToNote(s, site);
        if (!EPOCHS) {
            beginEpoch(s);
        }
        long write = U.getLong(base, w);
        long read = U.getLong(base, r);
        boolean isOwn = OWNERSHIP
            && (write == 0 || write > 0 && owner(write) == s.number)
            && (read == 0 || read < 0 && write != 0 && !LOCKSETS || read > 0 && owner(read) == s.number);
        if (!isOwn && KNOWS_PAST && read >= 0 && isKnown(s, read) && isKnown(s, write)) {
            if (read != 0) {
                U.putLong(base, r, 0);
            }
            isOwn = true;
        }
        if (isOwn && (!LEAVES_OUT || write == 0 || site != 0)) {
            U.putLong(base, w, s.epoch | site);
        }
        return isOwn;
    }

    /** Whether a word holds nothing, what the thread did itself, or what is past. */
    private static boolean isKnown(ScissionThread s, long word) {
        if (word << 1 == 0) {
            return true;
        }
        int owner = owner(word);
        return owner == s.number || s.follows(word, owner);
    }

    /** Whether every read is reported of a variable that several threads have used, by its index of reads. */
    private static boolean isLoud(long read) {
        return LOCKSETS && (READS_BEFORE_WRITES || (read & WRITTEN) != 0);
    }

    /**
     * Whether all that the words of a variable stand for has been reported, and need not be again: where nobody asks
     * in which order accesses came.
     */
    private static boolean isTold(long read) {
        return LOCKSETS && !NESTED_BLOCKS && read < 0 && isLoud(read);
    }

    /**
     * A thread would have used the variable. If another one has used it, what is noted is reported, and from now on every
     * access is; if nobody has, a word without a site says whose it is, so that the next thread is the second one.
     */
    static void mark(
            ScissionThread s, boolean isWrite, Object base, long r, long w, long first, long second) {
        long write = U.getLong(base, w);
        long read = U.getLong(base, r);
        if (!OWNERSHIP) {
            return;
        }
        if (read < 0) {
            if (isWrite && (read & WRITTEN) == 0) {
                U.putLong(base, r, read | WRITTEN);
                ScissionNotes.collectReads(s, read & SHARED_INDEX, first, second);
            }
        } else if (write == 0 && read == 0) {
            U.putLong(base, isWrite ? w : r, s.epoch);
        } else if (takesOver(s, write, read)) {
            earlier(EVENT_EARLIER_WRITE, write, first, second);
            earlier(EVENT_EARLIER_READ, read, first, second);
            U.putLong(base, w, isWrite ? s.epoch : 0);
            U.putLong(base, r, isWrite ? 0 : s.epoch);
        } else if (isOther(s, write) || isOther(s, read)) {
            if (write > 0) {
                earlier(EVENT_EARLIER_WRITE, write, first, second);
            }
            if (read > 0) {
                earlier(EVENT_EARLIER_READ, read, first, second);
            }
            U.putLong(base, r, isWrite ? shareReads() | WRITTEN : shareReads());
        } else if (isWrite && write == 0) {
            U.putLong(base, w, s.epoch);
        }
    }

    /** Reports a read, and before it what it follows. */
    @DontInline
    static void reportRead(
            ScissionThread s, Object base, long r, long w, int site, long first, long second) {
        site = siteToNote(s, site);
        long write;
        boolean receives;
        do {
            write = U.getLong(base, w);
            receives = isOther(s, write);
        } while (write >= 0 && (receives || write == 0 || KNOWS_PAST && isReadByOther(s, base, r))
            && !U.compareAndSetLong(base, w, write, write | READ_SINCE));
        long read = U.getLong(base, r);
        if (write > 0 && !isTold(read)) {
            earlier(EVENT_EARLIER_WRITE, write, first, second);
        }
        boolean isSecondReader = read > 0 && owner(read) != s.number;
        boolean takesOver = takesOver(s, write, read);
        if (isSecondReader) {
            earlier(EVENT_EARLIER_READ, read, first, second);
        }
        if (!takesOver && (isSecondReader || LOCKSETS && receives && read >= 0)) {
            // From now on each thread notes its own reads.
            read = isInherited(s, write) ? shareReads() : shareReads() | WRITTEN;
            U.putLong(base, r, read);
        }
        if (read >= 0) {
            if (receives) {
                splitEpoch(s);
            }
            U.putLong(base, r, s.epoch | site);
        } else if (!takesNote(s, read & SHARED_INDEX)) {
            if (isCached(s, first, second, write, receives)) {
                return;
            }
        } else {
            long note = noteOf(s, read);
            long noted = U.getLong(null, note);
            if (noted != 0 && owner(noted) != s.number) {
                // A thread that has ended had this region before.
                earlier(EVENT_EARLIER_READ, noted, first, second);
                noted = 0;
            }
            if (receives && noted == 0) {
                splitEpoch(s);
            }
            U.putLong(null, note, s.epoch | site);
            if (noted == 0) {
                ScissionNotes.noted(s, read & SHARED_INDEX);
            }
        }
        emit(s, EVENT_READ, site, first, second);
    }

    /** Whether this thread reported the read in this epoch; the last resort for variables without notes. */
    private static boolean isCached(ScissionThread s, long first, long second, long write, boolean receives) {
        long[] cache = s.readCache;
        if (cache == null) {
            s.readCache = cache = new long[256 * 4];
        }
        long mixed = first * 31 + second;
        int index = ((int) (mixed ^ mixed >>> 9) & 255) * 4;
        boolean isKnown = cache[index] == first && cache[index + 1] == second
            && cache[index + 2] == (write | READ_SINCE);
        if (EPOCHS && isKnown && cache[index + 3] == s.epoch) {
            return true;
        }
        if (receives && !isKnown) {
            splitEpoch(s);
        }
        cache[index] = first;
        cache[index + 1] = second;
        cache[index + 2] = write | READ_SINCE;
        cache[index + 3] = s.epoch;
        return false;
    }

    /** Reports a write, and before it what it follows. */
    @DontInline
    static void reportWrite(
            ScissionThread s, Object base, long r, long w, int site, long first, long second) {
        site = siteToNote(s, site);
        long write = U.getLong(base, w);
        long read = U.getLong(base, r);
        if (isTold(read)) {
            splitEpoch(s);
            U.putLong(base, w, s.epoch | site);
            emit(s, EVENT_WRITE, site, first, second);
            return;
        }
        if (write > 0 && owner(write) != s.number) {
            earlier(EVENT_EARLIER_WRITE, write, first, second);
        }
        if (read > 0 && owner(read) != s.number) {
            earlier(EVENT_EARLIER_READ, read, first, second);
        }
        if (read < 0 && read != READ_SHARED) {
            if (LOCKSETS) {
                U.putLong(base, r, read | WRITTEN);
            }
            ScissionNotes.collectReads(s, read & SHARED_INDEX, first, second);
        } else if (LOCKSETS && (read < 0 || isOther(s, read) || isOther(s, write)) && !takesOver(s, write, read)) {
            // A second thread has come, now or before.
            U.putLong(base, r, read < 0 ? READ_SHARED : shareReads() | WRITTEN);
        } else if (read != 0) {
            U.putLong(base, r, 0);
        }
        splitEpoch(s);
        U.putLong(base, w, s.epoch | site);
        emit(s, EVENT_WRITE, site, first, second);
    }

    /** Whether nobody has used the variable but this thread and, before it started it, the one that did. */
    private static boolean takesOver(ScissionThread s, long write, long read) {
        return LOCKSETS && !READS_BEFORE_WRITES && read >= 0 && s.started != 0
            && (isOther(s, write) || isOther(s, read)) && isInherited(s, write) && isInherited(s, read);
    }

    private static boolean isInherited(ScissionThread s, long word) {
        return !isOther(s, word) || owner(word) == s.starter && word << 1 >>> 1 < s.started;
    }

    /** Whether the note of reads is of another thread, which alone has read. */
    private static boolean isReadByOther(ScissionThread s, Object base, long r) {
        long read = U.getLong(base, r);
        return read > 0 && owner(read) != s.number;
    }

    /** Whether a word holds what another thread did. */
    private static boolean isOther(ScissionThread s, long word) {
        return word << 1 != 0 && owner(word) != s.number;
    }
}
