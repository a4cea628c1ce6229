package java.lang;

import static java.lang.ScissionProtocol.*;

import java.lang.reflect.Array;
import java.util.concurrent.atomic.AtomicLong;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Elements of arrays. Two words an element are much more than most elements take themselves, so that they are made
 * only when an element is accessed, outside the heap for large arrays, and never more than a share of what the
 * program may use itself. An element that gets no words is not watched, and counted.
 *
 * <p>The words of an array are freed once it is gone, and it cannot go while a hook uses them: the instruction behind the
 * hook needs the array, so that wherever the garbage collector may come in between, the frame of the program holds
 * it. A reachability fence here would be seen as one of the program, which orders threads.
 *
 * <p>A thread remembers for each site which array was accessed there last, since a loop that walks several arrays comes to each of
 * them by sites of its own.
 */
final class ScissionArrays {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Elements that have their words together. */
    private static final int CHUNK_BITS = 12;
    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int WORDS_BYTES = 16;
    /** How many arrays a thread remembers, by site; a power of two. */
    private static final int REMEMBERED = 128;
    /** Stands for the address of a chunk whose elements are not watched. */
    private static final long NO_CHUNK = 1;

    /** The bytes that words of small arrays may take of the heap, and those of large ones outside. */
    private static final long MOST_INSIDE = Runtime.getRuntime().maxMemory() / 8;
    private static final long MOST_OUTSIDE = Runtime.getRuntime().maxMemory() / 2;
    private static final AtomicLong INSIDE = new AtomicLong();
    private static final AtomicLong OUTSIDE = new AtomicLong();

    private ScissionArrays() {}

    /** The words of the elements of an array. */
    static final class Words {
        /** Those of a small array; null for a large one, and for one without words. */
        final long[] inside;
        /**
         * The addresses of the words of the chunks of a large array, each 0 until an element in it is accessed, and
         * {@link #NO_CHUNK} if there was no memory then; itself 0 for a small array. A chunk is zero before its address is
         * there, and whoever reads through that address comes after it.
         */
        final long chunks;
        private final int chunkCount;

        private Words(long[] inside, long chunks, int chunkCount) {
            this.inside = inside;
            this.chunks = chunks;
            this.chunkCount = chunkCount;
        }

        /** Gives everything back. The array is gone, and so are all who could come with it. */
        void free() {
            if (inside != null) {
                giveBackNotes(inside, ScissionSites.LONGS, inside.length / 2);
                INSIDE.addAndGet(-8L * inside.length);
            }
            if (chunks != 0) {
                for (int i = 0; i < chunkCount; i++) {
                    long chunk = U.getLong(chunks + 8L * i);
                    if (chunk != 0 && chunk != NO_CHUNK) {
                        giveBackNotes(null, chunk, CHUNK);
                        U.freeMemory(chunk);
                        OUTSIDE.addAndGet(-(long) CHUNK * WORDS_BYTES);
                    }
                }
                U.freeMemory(chunks);
                OUTSIDE.addAndGet(-8L * chunkCount);
            }
        }
    }

    /** Gives back where reads of elements that are gone were noted, by the words R from there on. */
    private static void giveBackNotes(Object base, long words, int elements) {
        for (long r = words, end = words + (long) elements * WORDS_BYTES; r < end; r += WORDS_BYTES) {
            long read = U.getLong(base, r);
            if (read < 0) {
                ScissionNotes.giveBack(read & ScissionNotes.SHARED_INDEX);
            }
        }
    }

    /** The words of an array whose elements are not watched. */
    private static final Words NONE = new Words(null, 0, 0);

    static void read(ScissionThread s, Object array, int index, int site) {
        ScissionObjects.Entry entry = entry(s, array, site);
        Words words = entry.words;
        long[] inside = words.inside;
        long r = inside != null ? ScissionSites.LONGS + (long) index * WORDS_BYTES : outside(words, index);
        if (r == 0) {
            ScissionFailures.elements++;
        } else if (!ScissionFilters.isQuietRead(s, inside, r, site)
            && !s.isOptimistic && !ScissionFilters.noteRead(s, inside, r, r + 8, site)) {
            ScissionFilters.reportRead(s, inside, r, r + 8, site, entry.id, OF_ELEMENT | index);
        }
    }

    static void write(ScissionThread s, Object array, int index, int site) {
        ScissionObjects.Entry entry = entry(s, array, site);
        Words words = entry.words;
        long[] inside = words.inside;
        long r = inside != null ? ScissionSites.LONGS + (long) index * WORDS_BYTES : outside(words, index);
        if (r == 0) {
            ScissionFailures.elements++;
        } else if (!ScissionFilters.isQuietWrite(s, inside, r, r + 8, site)
            && !ScissionFilters.noteWrite(s, inside, r, r + 8, site)) {
            ScissionFilters.reportWrite(s, inside, r, r + 8, site, entry.id, OF_ELEMENT | index);
        }
    }

    /** Whether an array has an element of this index; not if there is no array. */
    @ForceInline
    static boolean hasElement(Object array, int index) {
        return array != null && index >= 0 && index < Array.getLength(array);
    }

    /** The stack of the first access is the only one of a site whose accesses are all reported late. */
    @DontInline
    static void firstUse(ScissionThread s, int site) {
        if (ScissionSites.isSite(site)) {
            ScissionSites.setDone(site);
            ScissionEvents.noteStack(s, site);
        }
    }

    /** What is known of an array, which has its words. */
    private static ScissionObjects.Entry entry(ScissionThread s, Object array, int site) {
        ScissionObjects.Entry entry = s.arrays[site & s.arrays.length - 1];
        return entry != null && entry.get() == array ? entry : otherEntry(s, array, site);
    }

    @DontInline
    private static ScissionObjects.Entry otherEntry(ScissionThread s, Object array, int site) {
        ScissionObjects.Entry entry = ScissionObjects.find(array);
        if (entry == null) {
            entry = ScissionObjects.enter(s, array, ScissionShapes.of(array.getClass()));
        }
        Words words = entry.words;
        if (words == null) {
            Words made = make(Array.getLength(array));
            synchronized (entry) {
                words = entry.words;
                if (words == null) {
                    entry.words = words = made;
                    made = NONE;
                }
            }
            made.free();
        }
        if (s.arrays.length == 1) {
            // Many threads access no array, or hardly any.
            s.arrays = new ScissionObjects.Entry[REMEMBERED];
        }
        s.arrays[site & s.arrays.length - 1] = entry;
        return entry;
    }

    /** Words for an array of this length, or none if they would take too much. */
    private static Words make(int length) {
        if (length <= CHUNK) {
            long bytes = (long) length * WORDS_BYTES;
            if (!reserve(INSIDE, bytes, MOST_INSIDE)) {
                return NONE;
            }
            try {
                return new Words(new long[length * 2], 0, 0);
            } catch (OutOfMemoryError none) {
                INSIDE.addAndGet(-bytes);
                return NONE;
            }
        }
        int chunkCount = (length - 1 >>> CHUNK_BITS) + 1;
        long chunks = allocate(8L * chunkCount);
        return chunks == 0 ? NONE : new Words(null, chunks, chunkCount);
    }

    /** Where an element of a large array has its words; 0 if there are none for it. */
    private static long outside(Words words, int index) {
        if (words.chunks == 0) {
            return 0;
        }
        long slot = words.chunks + 8L * (index >>> CHUNK_BITS);
        long chunk = U.getLong(slot);
        if (chunk == 0) {
            chunk = newChunk(slot);
        }
        return chunk == NO_CHUNK ? 0 : chunk + (long) (index & CHUNK - 1) * WORDS_BYTES;
    }

    @DontInline
    private static long newChunk(long slot) {
        long made = allocate((long) CHUNK * WORDS_BYTES);
        long chunk = made == 0 ? NO_CHUNK : made;
        if (U.compareAndSetLong(null, slot, 0, chunk)) {
            return chunk;
        }
        // Another thread was first.
        if (made != 0) {
            U.freeMemory(made);
            OUTSIDE.addAndGet(-(long) CHUNK * WORDS_BYTES);
        }
        return U.getLongVolatile(null, slot);
    }

    /** Zeroed memory outside the heap; 0 if there is none, or if it would be too much. */
    private static long allocate(long bytes) {
        if (!reserve(OUTSIDE, bytes, MOST_OUTSIDE)) {
            return 0;
        }
        try {
            long address = U.allocateMemory(bytes);
            U.setMemory(address, bytes, (byte) 0);
            return address;
        } catch (OutOfMemoryError none) {
            OUTSIDE.addAndGet(-bytes);
            return 0;
        }
    }

    /** How much was taken since arrays that are gone were last looked for. Threads may lose what another one adds. */
    private static long sinceForgotten;
    /** When it is worth to look for them: words that nobody needs, and the places of their notes, are used again then. */
    private static final long MOST_UNTIL_FORGOTTEN = 1L << 18;

    /** Whether so many bytes more may be taken; they are counted then. */
    private static boolean reserve(AtomicLong taken, long bytes, long most) {
        sinceForgotten += bytes;
        if (sinceForgotten > MOST_UNTIL_FORGOTTEN) {
            sinceForgotten = 0;
            ScissionObjects.forget();
        }
        if (taken.addAndGet(bytes) <= most) {
            return true;
        }
        // Some may belong to arrays that are gone.
        ScissionObjects.forget();
        if (taken.get() <= most) {
            return true;
        }
        taken.addAndGet(-bytes);
        return false;
    }
}
