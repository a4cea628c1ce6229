package java.lang;

import static java.lang.ScissionEpochs.beginEpoch;
import static java.lang.ScissionEvents.emit;
import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionSites.FINAL_OF_CLASS;
import static java.lang.ScissionSites.HAS_NO_WORDS;
import static java.lang.ScissionSites.IS_DONE;
import static java.lang.ScissionSites.IS_VOLATILE;
import static java.lang.ScissionSites.UNRESOLVED;
import static java.lang.ScissionSites.field;
import static java.lang.ScissionSites.wordOfReads;
import static java.lang.ScissionSites.wordOfWrites;

import jdk.internal.vm.annotation.DontInline;

/**
 * Accesses to fields that the hooks do not decide on the spot. One way for fields of objects and for static fields: the
 * object of a static field is null, and its words are at addresses.
 */
final class ScissionAccesses {
    private ScissionAccesses() {}

    /** A read of a field with words, after the common cases. */
    @DontInline
    static void readWords(ScissionThread s, Object object, long entry, int site) {
        try {
            long r = wordOfReads(entry);
            long w = wordOfWrites(entry);
            usesClass(s, object, site);
            if (!s.isOptimistic && !ScissionFilters.noteRead(s, object, r, w, site)) {
                ScissionFilters.reportRead(s, object, r, w, site, owner(s, object, site), variable(object, site));
            }
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A write of a field with words, after the common cases. */
    @DontInline
    static void writeWords(ScissionThread s, Object object, long entry, int site) {
        try {
            long r = wordOfReads(entry);
            long w = wordOfWrites(entry);
            usesClass(s, object, site);
            if (!ScissionFilters.noteWrite(s, object, r, w, site)) {
                ScissionFilters.reportWrite(s, object, r, w, site, owner(s, object, site), variable(object, site));
            }
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /**
     * A read of a volatile field, of one without words, or the first one at its site. The class is the one that the code
     * names, for static fields where it can.
     */
    @DontInline
    static void readOther(Object object, Class<?> from, int site) {
        try {
            ScissionThread s = ScissionEpochs.current();
            long entry = entry(s, object, from, site);
            if (hasWords(entry, object)) {
                readWords(s, object, entry, site);
            } else if (isVolatile(entry, object)) {
                usesClass(s, object, site);
                ScissionOrder.acquireVolatile(object, from, site);
                ScissionVolatile.reportRead(
                    s, object, ScissionSites.volatileWord(entry), site, owner(s, object, site), variable(object, site));
            } else if (entry == IS_VOLATILE) {
                ScissionVolatile.read(s, site, owner(s, object, site), variable(object, site), 0);
            } else if (entry == HAS_NO_WORDS) {
                usesClass(s, object, site);
                if (!s.isOptimistic) {
                    report(s, EVENT_READ, site, owner(s, object, site), variable(object, site));
                }
            } else if (object == null && entry <= FINAL_OF_CLASS && entry > Integer.MIN_VALUE) {
                uses(s, (int) (FINAL_OF_CLASS - entry), site);
            }
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A write of a volatile field, of one without words, or the first one at its site. */
    @DontInline
    static void writeOther(Object object, Class<?> from, int site) {
        try {
            ScissionThread s = ScissionEpochs.current();
            long entry = entry(s, object, from, site);
            if (hasWords(entry, object)) {
                writeWords(s, object, entry, site);
            } else if (isVolatile(entry, object)) {
                usesClass(s, object, site);
                ScissionOrder.releaseVolatile(object, from, site);
                ScissionVolatile.reportWrite(
                    s, object, ScissionSites.volatileWord(entry), site, owner(s, object, site), variable(object, site));
            } else if (entry == IS_VOLATILE) {
                ScissionVolatile.write(s, site, owner(s, object, site), variable(object, site), 0);
            } else if (entry == HAS_NO_WORDS) {
                usesClass(s, object, site);
                report(s, EVENT_WRITE, site, owner(s, object, site), variable(object, site));
            }
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** A field is about to be read that may be volatile, or of which nothing is known yet. */
    @DontInline
    static void beforeRead(Object object, Class<?> from, int site) {
        try {
            ScissionThread s = ScissionEpochs.current();
            long entry = entry(s, object, from, site);
            if (isVolatile(entry, object)) {
                ScissionVolatile.beforeRead(s, object, ScissionSites.volatileWord(entry), site);
            }
        } catch (RuntimeException | VirtualMachineError | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** The entry of an access to a new object, which is passed to nothing: see {@link Scission#readNew}. */
    static long entryOfNew(ScissionThread s, Object object, int site) {
        long entry = ScissionSites.entry(site);
        return entry != UNRESOLVED ? entry : firstUseOfNew(s, object.getClass(), site);
    }

    @DontInline
    private static long firstUseOfNew(ScissionThread s, Class<?> type, int site) {
        try {
            return ScissionSites.firstUse(s, type, site, false);
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
            return IS_DONE;
        }
    }

    static long entry(ScissionThread s, Object object, Class<?> from, int site) {
        long entry = ScissionSites.entry(site);
        if (entry != UNRESOLVED) {
            return entry;
        }
        return ScissionSites.firstUse(s, object == null ? from : object.getClass(), site, object == null);
    }

    /** Whether an entry is that of a field with words, of an object or a static one as the object is. */
    private static boolean hasWords(long entry, Object object) {
        return object == null ? ScissionSites.isStatic(entry) : ScissionSites.isField(entry);
    }

    private static boolean isVolatile(long entry, Object object) {
        return object == null ? ScissionSites.isVolatileStatic(entry) : ScissionSites.isVolatileField(entry);
    }

    /** The first operand of an access: the number of the object. */
    private static long owner(ScissionThread s, Object object, int site) {
        return object == null ? 0 : ScissionObjects.id(s, object, ScissionSites.ownerOf(site));
    }

    /** The second operand of an access: the field. */
    private static long variable(Object object, int site) {
        return (object == null ? OF_STATIC : OF_FIELD) | field(site);
    }

    /** An access to a variable without words: nothing is known of it, so it is always reported. */
    static void report(ScissionThread s, int kind, int site, long first, long second) {
        beginEpoch(s);
        emit(s, kind, site, first, second);
    }

    /** Whoever accesses a static field uses its class. */
    static void usesClass(ScissionThread s, Object object, int site) {
        if (object == null) {
            uses(s, ScissionSites.ownerOf(site), site);
        }
    }

    /** Notes that a thread uses a class, and reports it the first time. */
    private static void uses(ScissionThread s, int classNumber, int site) {
        if (!s.sees(classNumber)) {
            s.see(classNumber);
            beginEpoch(s);
            emit(s, EVENT_CLASS_USED, site, classNumber, 0);
        }
    }
}
