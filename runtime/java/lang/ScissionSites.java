package java.lang;

import static java.lang.ScissionProtocol.*;

import java.util.HashMap;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * What sites refer to: where the variable of an access has its words.
 *
 * <p>A site is resolved the first time that it runs. Its entry says where the words are, as a number from one of these
 * ranges, which do not meet: what a hook for one kind of variable does with the entry of another kind would write to
 * memory that is not ours.
 *
 * <p>Hooks may come with numbers that are no sites; these have the entry {@link #UNRESOLVED}, and
 * {@link #isSite} tells.
 */
final class ScissionSites {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** The field of each site, and where its objects have their number. */
    private static final long TABLE = ScissionNatives.configuration(WORD_SITES);
    /** The words of static fields. */
    private static final long WORDS_OF_STATICS = ScissionNatives.configuration(WORD_STATICS);

    static final long UNRESOLVED = 0;
    /** A volatile field without a word. */
    static final long IS_VOLATILE = -1;
    static final long HAS_NO_WORDS = -2;
    /** There is nothing to do: a final field, or a site of another kind whose first use is over. */
    static final long IS_DONE = -3;
    /** A lock that is acquired here begins a block if none is open; or does not. */
    private static final long BEGINS_BLOCK = -4;
    private static final long BEGINS_NO_BLOCK = -5;
    /** A static final field of the class with number {@code FINAL_OF_CLASS - entry}. */
    static final long FINAL_OF_CLASS = -16;
    /** From here on upwards: a static field, whose word R is at the address {@code entry - STATIC}. Below, down
     * to 1: a field, with the offset of R in the low half and that of W in the high half. */
    private static final long STATIC = 1L << 62;
    /** A volatile field, whose word R is at the offset {@code entry - VOLATILE}. */
    private static final long VOLATILE = Long.MIN_VALUE;
    /** A volatile static field, whose word R is at the address {@code entry - VOLATILE_STATIC}. */
    private static final long VOLATILE_STATIC = Long.MIN_VALUE + (1L << 61);
    /** Above the entries of volatile fields, below all other negative ones. */
    private static final long END_OF_VOLATILE = Long.MIN_VALUE + (1L << 62);

    /** How many low bits of a site choose within one part of the table of entries. */
    private static final int PART_BITS = 15;

    /**
     * By the high and the low bits of the site. Once set an entry never changes. There is room for all numbers, so that
     * nobody need ask which are sites.
     */
    @Stable private static final long[][] ENTRIES = new long[1 << 32 - PART_BITS][];

    private static final HashMap<String, Long> STATIC_WORDS = new HashMap<>();

    /** Where the elements of an array of longs begin. The constant is an int in some JDKs only. */
    static final long LONGS = longsOffset();

    private ScissionSites() {}

    private static long longsOffset() {
        try {
            return ((Number) Unsafe.class.getField("ARRAY_LONG_BASE_OFFSET").get(null)).longValue();
        } catch (ReflectiveOperationException impossible) {
            throw new InternalError(impossible);
        }
    }

    /** Whether a number is that of a site. */
    static boolean isSite(int site) {
        return site > 0 && site < SITES;
    }

    @ForceInline
    static long entry(int site) {
        long[] entries = ENTRIES[site >>> PART_BITS];
        return entries == null ? UNRESOLVED : entries[site & (1 << PART_BITS) - 1];
    }

    private static synchronized void setEntry(int site, long entry) {
        long[] entries = ENTRIES[site >>> PART_BITS];
        if (entries == null) {
            entries = new long[1 << PART_BITS];
            // Whoever sees the array sees its zeros.
            U.storeFence();
            ENTRIES[site >>> PART_BITS] = entries;
        }
        // Whoever sees the entry sees what was stored of the site before; see `field` and `ScissionTasks.bodyOf`.
        U.putLongRelease(entries, LONGS + (site & (1 << PART_BITS) - 1) * 8L, entry);
    }

    /** The first use of a site is over, unless it turned out to be an access to a field. */
    static synchronized void setDone(int site) {
        if (isSite(site) && entry(site) == UNRESOLVED) {
            setEntry(site, IS_DONE);
        }
    }

    @ForceInline
    static boolean isField(long entry) {
        return entry > 0 && entry < STATIC;
    }

    @ForceInline
    static boolean isStatic(long entry) {
        return entry >= STATIC;
    }

    @ForceInline
    static boolean isVolatileField(long entry) {
        return entry < VOLATILE_STATIC;
    }

    @ForceInline
    static boolean isVolatileStatic(long entry) {
        return entry >= VOLATILE_STATIC && entry < END_OF_VOLATILE;
    }

    /** Whether an entry is that of a volatile field with a word, or of a site that has not been used. */
    @ForceInline
    static boolean mayBeVolatile(long entry) {
        return entry < END_OF_VOLATILE || entry == UNRESOLVED;
    }

    /** Whether an entry is that of a volatile field, with or without a word. */
    static boolean isVolatile(long entry) {
        return entry < END_OF_VOLATILE || entry == IS_VOLATILE;
    }

    /** Where a field or static field has its word R. */
    @ForceInline
    static long wordOfReads(long entry) {
        return isStatic(entry) ? entry - STATIC : entry & 0xffffffffL;
    }

    /** Where a field or static field has its word W. */
    @ForceInline
    static long wordOfWrites(long entry) {
        return isStatic(entry) ? entry - STATIC + 8 : entry >>> 32;
    }

    /** Where a volatile field or static field has its word R. */
    @ForceInline
    static long volatileWord(long entry) {
        return isVolatileStatic(entry) ? entry - VOLATILE_STATIC : entry - VOLATILE;
    }

    /** The field of a site, whose entry this thread has seen: that was stored later, and is loaded before. */
    static long field(int site) {
        U.loadFence();
        return U.getInt(TABLE + (long) site * SITE_BYTES) & 0xffffffffL;
    }

    /** The class that declares the static field of a site; for other fields where objects have their number. */
    static int ownerOf(int site) {
        U.loadFence();
        return U.getInt(TABLE + (long) site * SITE_BYTES + SITE_OWNER);
    }

    /** The offset of the volatile field of a site in its objects. */
    static long offset(int site) {
        return U.getLong(TABLE + (long) site * SITE_BYTES + SITE_OFFSET);
    }

    private static void setField(int site, int field, int owner) {
        U.putInt(TABLE + (long) site * SITE_BYTES, field);
        U.putInt(TABLE + (long) site * SITE_BYTES + SITE_OWNER, owner);
    }

    /** Whether a lock that is acquired at a site begins an atomic block if none is open. */
    static boolean beginsBlock(int site) {
        long entry = entry(site);
        return entry == UNRESOLVED ? resolveLock(site) : entry == BEGINS_BLOCK;
    }

    @DontInline
    private static synchronized boolean resolveLock(int site) {
        if (!isSite(site) || entry(site) != UNRESOLVED) {
            return entry(site) == BEGINS_BLOCK;
        }
        String[] target = ScissionNatives.target(site).split(" ");
        boolean begins = target.length == 2 && target[1].equals("block");
        if (target.length < 4) {
            setEntry(site, begins ? BEGINS_BLOCK : BEGINS_NO_BLOCK);
        }
        return begins;
    }

    // ------------------------------------------------------------------ resolving

    /**
     * Finds the declaration behind a site, the first time that it runs. The stack of that moment is the only
     * one of a site whose accesses are all reported late.
     */
    @DontInline
    static long firstUse(ScissionThread s, Class<?> from, int site, boolean isStatic) {
        long entry = resolve(from, site, isStatic);
        if (ScissionConfiguration.EMITS && entry > 0) {
            ScissionEvents.noteStack(s, site);
        }
        return entry;
    }

    /** The entry of a site, which is found if it is not known. */
    static synchronized long resolve(Class<?> from, int site, boolean isStatic) {
        long known = entry(site);
        if (known != UNRESOLVED || !isSite(site)) {
            return known;
        }
        String[] target = ScissionNatives.target(site).split(" ");
        if (target.length < 4 || target[3].equals("static") != isStatic) {
            // A site of another kind, which stays as it is.
            return IS_DONE;
        }
        long entry = find(from, target[0].replace('/', '.'), target[1], site, isStatic);
        boolean givesOrderOnly = target.length > 4;
        if (givesOrderOnly && !isVolatile(entry)) {
            entry = IS_DONE;
        }
        setEntry(site, entry);
        return entry;
    }

    private static long find(Class<?> from, String ownerName, String name, int site, boolean isStatic) {
        Class<?> declaring = from;
        if (!isStatic) {
            // The class that the bytecode names is the receiver's, or one above it.
            while (declaring != null && !declaring.getName().equals(ownerName)) {
                declaring = declaring.getSuperclass();
            }
        }
        declaring = declaring == null ? null : declaringClass(declaring, name, isStatic);
        if (declaring == null) {
            int owner = ScissionNatives.classNumber(ownerName);
            setField(site, ScissionNatives.fieldNumber(owner, name), isStatic ? owner : 0);
            return HAS_NO_WORDS;
        }
        ScissionShapes.Shape shape = ScissionShapes.of(declaring);
        int modifiers = shape.fields.get(name);
        if ((modifiers & 0x10) != 0) {
            return isStatic ? FINAL_OF_CLASS - shape.number : IS_DONE;
        }
        int field = ScissionNatives.fieldNumber(shape.number, name);
        setField(site, field, isStatic ? shape.number : (int) shape.idOffset);
        boolean isVolatile = (modifiers & 0x40) != 0;
        if (isStatic) {
            long words = staticWords(shape.number + " " + name);
            if (words == 0) {
                return isVolatile ? IS_VOLATILE : HAS_NO_WORDS;
            }
            return (isVolatile ? VOLATILE_STATIC : STATIC) + words;
        }
        if (isVolatile) {
            U.putLong(TABLE + (long) site * SITE_BYTES + SITE_OFFSET, U.objectFieldOffset(declaring, name));
        }
        if (!shape.fields.containsKey("$scission$r$" + name)) {
            return isVolatile ? IS_VOLATILE : HAS_NO_WORDS;
        }
        if (isVolatile) {
            return VOLATILE + U.objectFieldOffset(declaring, "$scission$r$" + name);
        }
        return U.objectFieldOffset(declaring, "$scission$w$" + name) << 32
            | U.objectFieldOffset(declaring, "$scission$r$" + name);
    }

    static Class<?> declaringClass(Class<?> from, String name, boolean isStatic) {
        for (Class<?> c = from; c != null; c = c.getSuperclass()) {
            Integer modifiers = ScissionShapes.of(c).fields.get(name);
            if (modifiers != null && (modifiers & 8) != 0 == isStatic) {
                return c;
            }
            if (isStatic) {
                for (Class<?> i : c.getInterfaces()) {
                    Class<?> found = declaringClass(i, name, true);
                    if (found != null) {
                        return found;
                    }
                }
            }
        }
        return null;
    }

    /** The address of the words of a static field; 0 if there are no more. */
    private static long staticWords(String key) {
        Long known = STATIC_WORDS.get(key);
        if (known == null && STATIC_WORDS.size() == STATICS) {
            return 0;
        }
        if (known == null) {
            known = WORDS_OF_STATICS + (long) STATIC_WORDS.size() * STATIC_BYTES;
            STATIC_WORDS.put(key, known);
        }
        return known;
    }
}
