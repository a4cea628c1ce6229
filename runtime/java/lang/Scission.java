package java.lang;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * The hooks that the agent inserts into the classes of the program, and the filters that keep most of
 * them from saying anything.
 *
 * <p><b>Words.</b> Every watched variable has two words: R for its last noted read, W for its last noted
 * write. A word is an epoch and a site, {@code epoch << 24 | site}; 0 is "none". Bit 63 of W says that
 * another thread has read the variable since that write. Once several threads have read a variable
 * between two writes, R holds an index instead, with bit 63 set: each thread then notes its reads in a word
 * of its own at that index, so that readers do not chase each other. A write clears the notes of reads.
 *
 * <p><b>Epochs.</b> An epoch belongs to one thread. It ends when the thread begins an atomic block, and at
 * every operation that orders it with other threads, in either direction. Epoch numbers are handed out to
 * threads in blocks of {@code 2^14}; a table says which thread a block belongs to.
 *
 * <p><b>The epoch filter</b> drops an access to a variable that the same thread has accessed in the same
 * way in the same epoch, if nobody came in between. Nothing is lost: between the two accesses the thread
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
 * <p><b>Volatile variables</b> have the word R only: once a thread has read one, it holds an index for the
 * notes of each thread. A read is reported, and noted, when the thread has not read the variable since the last
 * write; a later one is only noted, since what it would receive has been received, and reported by the next write.
 * Volatile accesses order others, so here nothing may be lost by a race between two hooks. A write says in R that
 * it is under way, then takes and reports the notes, then is reported, and only then takes place. A read is noted
 * before it is reported, and the note is taken back if a write is under way. So while a note stands, its thread has
 * received from every write that was reported; and a thread that sees what was written finds its note gone.
 *
 * <p><b>Locksets.</b> For monitors that look at the locks that are held at each access, edges are not all that
 * matters: an access of the last owner can be the first without the lock. For them a variable is under the
 * ownership filter only while one thread alone has ever used it. The second thread gives R an index for
 * good, and from then on every access is reported, once in each epoch; and so is every read of a volatile
 * variable, whoever has used it. That loses no lock set: an
 * epoch ends where a lock is taken or given back, so that the same locks are held at every access of one
 * epoch; and what was noted before the second thread came is reported as earlier accesses of a variable that
 * had one owner, whose locks do not count.
 *
 * <p><b>What is not exact.</b> The words are read and written without a lock: of two accesses that truly
 * race, at the same moment, the order may be seen wrongly, and one of them may be noted without being
 * reported.
 *
 * <p>The agent defines this class in {@code java.lang} by the boot loader, so that every class loader finds
 * it and the virtual machine trusts its annotations. Hooks throw nothing, take no lock while they call out,
 * and use no class that the agent rewrites.
 */
public final class Scission {
    private static final Unsafe U = Unsafe.getUnsafe();

    // What the agent decided, constant for the run. See `configuration` in `natives.rs` of the agent.
    private static final long RING = configuration(0);
    private static final long RING_MASK = configuration(1);
    private static final long TAIL = configuration(2);
    private static final long HEAD = configuration(3);
    /** Whether events go anywhere. */
    private static final boolean EMIT = configuration(4) != 0;
    private static final boolean OWNERSHIP = configuration(5) != 0;
    private static final boolean EPOCHS = configuration(6) != 0;
    /** The number of the thread that each block of epochs belongs to, an int each. */
    private static final long OWNERS = configuration(7);
    /** The field of each site, and where its objects have their number, two ints each. */
    private static final long SITES = configuration(8);
    /** The words of static fields. */
    private static final long STATICS = configuration(9);
    /** How many blocks of epochs there are. */
    private static final long EPOCH_BLOCKS = configuration(10);
    /** Where the next block of epochs, and the next number of an object, are counted. */
    private static final long NEXT_BLOCK = configuration(11);
    private static final long NEXT_OBJECT = configuration(12);
    /** How many static fields can have words. */
    private static final long MAX_STATICS = configuration(13);
    /** Notes of reads: a region for each of some threads, and one more that stays empty. */
    private static final long NOTES = configuration(14);
    /** Whether a monitor looks at the locks that are held. */
    private static final boolean LOCKSETS = configuration(15) != 0;
    /** Whether reads of volatile variables are noted; each of them matters to monitors that look at locks. */
    private static final boolean VOLATILE_NOTES = EPOCHS && OWNERSHIP && !LOCKSETS;

    private static final int SITE_BITS = ScissionThread.SITE_BITS;
    private static final long NEXT_EPOCH = 1L << SITE_BITS;
    private static final int BLOCK_BITS = 14;
    /** The bits that are all zero in the first epoch of a block. */
    private static final long WITHIN_BLOCK = (1L << BLOCK_BITS) - 1 << SITE_BITS;
    private static final long READ_SINCE = 1L << 63;
    /** The variables whose reads can be noted by thread. */
    private static final int SHARED_BITS = 20;
    private static final long SHARED_INDEX = (1L << SHARED_BITS) - 1;
    /** A word R of a variable that found no index any more: the last index, which nobody gets. */
    private static final long READ_SHARED = -1;
    /** How many threads at a time can note reads of shared variables. */
    private static final int REGIONS = 64;
    /** Says that a thread has no region yet; reads of it find nothing. */
    static final long NO_NOTES = NOTES + ((long) REGIONS << SHARED_BITS + 3);

    // Where a site finds the words of its variable: the offset of R in the low half and of W in the high
    // half for fields, an address for statics; or one of these.
    private static final long UNRESOLVED = 0;
    /** A volatile field without a word. */
    private static final long IS_VOLATILE = -1;
    private static final long HAS_NO_WORDS = -2;
    private static final long IS_FINAL = -3;
    /** A static final field of the class with number {@code FINAL_OF_CLASS - entry}. */
    private static final long FINAL_OF_CLASS = -16;
    /** A volatile field whose word R is at {@code entry - VOLATILE}. */
    private static final long VOLATILE = Long.MIN_VALUE;
    /** Counts in the word R of a volatile variable the writes that are under way. */
    private static final long WRITER = 1L << 40;
    private static final long WRITERS = (1L << 63) - WRITER;

    /** By the high and the low twelve bits of the site. Once set an entry never changes. */
    @Stable private static final long[][] ENTRIES = new long[1 << SITE_BITS - 12][];

    /** Added to the number of a name to make that of a lock. */
    private static final long UNNAMED_CLASSES = 1L << 62;

    /** Where the elements of an array of longs begin. The constant is an int in some JDKs only. */
    private static final long LONGS = longsOffset();

    private static long longsOffset() {
        try {
            return ((Number) Unsafe.class.getField("ARRAY_LONG_BASE_OFFSET").get(null)).longValue();
        } catch (ReflectiveOperationException impossible) {
            throw new InternalError(impossible);
        }
    }

    // The kinds of records, in the order of `record.rs` of the agent.
    private static final int READ = 1;
    private static final int WRITE = 2;
    private static final int EARLIER_READ = 3;
    private static final int EARLIER_WRITE = 4;
    private static final int VOLATILE_READ = 5;
    private static final int VOLATILE_WRITE = 6;
    private static final int ATOMIC_UPDATE = 7;
    private static final int ACQUIRE = 8;
    private static final int RELEASE = 9;
    private static final int WAIT = 10;
    private static final int WOKEN = 11;
    private static final int NOTIFY = 12;
    private static final int NOTIFY_ALL = 13;
    private static final int THREAD_BEGIN = 14;
    private static final int THREAD_END = 15;
    private static final int FORK = 16;
    private static final int JOIN = 17;
    private static final int SUBMIT = 18;
    private static final int TASK_BEGIN = 19;
    private static final int TASK_END = 20;
    private static final int TASK_JOIN = 21;
    private static final int PUBLISH = 22;
    private static final int RECEIVE = 23;
    private static final int BARRIER_ARRIVE = 24;
    private static final int BARRIER_PASS = 25;
    private static final int LATCH_DOWN = 26;
    private static final int LATCH_PASS = 27;
    private static final int BEGIN = 28;
    private static final int END = 29;
    private static final int ESCAPE = 30;
    private static final int CLASS_INITIALISED = 31;
    private static final int CLASS_USED = 32;
    private static final int BRANCH = 33;

    // What the second operand of an access record is.
    private static final long OF_FIELD = 0L << 32;
    private static final long OF_STATIC = 1L << 32;
    private static final long OF_ELEMENT = 2L << 32;
    private static final long OF_CONTENTS = 3L << 32;

    static native long configuration(int what);

    /** What a site refers to: owner, name and descriptor of a field, separated by blanks. */
    private static native String target(int site);

    private static native int classNumber(String name);

    /** Whether a class of the library leaves it to others to order the calls to its objects. */
    private static native boolean isUnordered(String name);

    /** The number that stands for all classes of the name that a site lies in. */
    private static native int classOfSite(int site);

    private static native int fieldNumber(int classNumber, String name);

    private static native int threadNumber(String name, boolean isVirtual);

    /** Notes how this thread has reached a site inside its innermost blocks. */
    private static native void addStack(
        int thread, int site, int first, int second, int third, int fourth);

    /** Lets some time pass until the ring has room. */
    private static native void pause();

    /** The fields that a class declares, those that the agent added included: each name and modifiers. */
    static native String declaredFields(Class<?> type);

    private Scission() {}

    // ------------------------------------------------------------------ threads and epochs

    /**
     * Whether a second thread has shown itself. Before that nothing can come between two accesses, and
     * blocks inside others begin no epoch. So of the blocks that are open at that moment, a block may be
     * blamed although a shorter one inside it would do; the verdict is the same.
     */
    private static boolean hasThreads = !EPOCHS;

    @ForceInline
    private static ScissionThread current() {
        ScissionThread s = Thread.currentThread().$scission;
        return s != null ? s : newThread(Thread.currentThread());
    }

    @DontInline
    private static ScissionThread newThread(Thread thread) {
        ScissionThread s = attach(thread);
        emit(s, THREAD_BEGIN, 0, 0, 0);
        return s;
    }

    /** Gives a thread its state; the caller is that thread, or the one that is about to start it. */
    private static ScissionThread attach(Thread thread) {
        boolean isVirtual = thread.getClass().getName().equals("java.lang.VirtualThread");
        ScissionThread s = new ScissionThread(threadNumber(thread.getName(), isVirtual));
        hasThreads |= s.number > 0;
        takeBlock(s);
        if (ScissionAdversary.IS_AT_WORK) {
            ScissionAdversary.enter(thread, s);
        }
        thread.$scission = s;
        return s;
    }

    /** Begins a new epoch. */
    @ForceInline
    private static void bump(ScissionThread s) {
        long next = s.epoch + NEXT_EPOCH;
        s.epoch = next;
        if ((next & WITHIN_BLOCK) == 0) {
            takeBlock(s);
        }
    }

    /** Gives the thread the next block of epochs. */
    @DontInline
    private static void takeBlock(ScissionThread s) {
        long block = U.getAndAddLong(null, NEXT_BLOCK, 1) % EPOCH_BLOCKS;
        U.putInt(OWNERS + block * 4, s.number);
        s.epoch = block << BLOCK_BITS + SITE_BITS;
    }

    /** The number of the thread whose epoch a word holds. */
    @ForceInline
    private static int owner(long word) {
        // The shift to the left drops bit 63.
        return U.getInt(OWNERS + (word << 1 >>> SITE_BITS + BLOCK_BITS + 1 << 2));
    }

    /** The site that a word holds. */
    @ForceInline
    private static int site(long word) {
        return (int) word & (1 << SITE_BITS) - 1;
    }

    /** Called by the agent when a thread ends. */
    static void threadEnd(Thread thread) {
        ScissionThread s = thread.$scission;
        if (s != null) {
            emit(s, THREAD_END, 0, 0, 0);
            returnRegion(s);
            if (ScissionAdversary.IS_AT_WORK) {
                ScissionAdversary.leave(s);
            }
        }
    }

    // ------------------------------------------------------------------ the ring

    /**
     * Reports an event of a thread in its current epoch, after the blocks that have begun since it last
     * reported something.
     */
    private static void emit(ScissionThread s, int kind, int site, long first, long second) {
        if (!EMIT) {
            return;
        }
        if (s.waiting != 0 && kind != WOKEN) {
            // A wait that ended with an exception has its monitor back as well.
            woken(s);
        }
        while (s.reported < s.depth) {
            long block = s.blocks[s.reported++];
            put(s.number, BEGIN, site(block), block >>> SITE_BITS, 0, 0);
        }
        if (site != 0 && kind != END) {
            noteStack(s, site);
        }
        put(s.number, kind, site, s.epoch >>> SITE_BITS, first, second);
    }

    /** Reports what a word holds, on behalf of the thread that did it. */
    private static void earlier(int kind, long word, long first, long second) {
        if (EMIT && OWNERSHIP) {
            long epoch = (word & ~READ_SINCE) >>> SITE_BITS;
            put(owner(word), kind, site(word), epoch, first, second);
        }
    }

    private static void put(int thread, int kind, int site, long epoch, long first, long second) {
        long ticket = U.getAndAddLong(null, TAIL, 1);
        while (ticket - U.getLongVolatile(null, HEAD) > RING_MASK) {
            pause();
        }
        long slot = RING + ((ticket & RING_MASK) << 5);
        U.putLong(slot + 8, epoch);
        U.putLong(slot + 16, first);
        U.putLong(slot + 24, second);
        U.putLongRelease(null, slot, (long) kind << 56 | (long) site << 32 | thread & 0xffffffffL);
    }

    // ------------------------------------------------------------------ stacks

    /** How many stacks are taken. What is reported elsewhere after that has its place only. */
    private static final int MAX_STACKS = 50_000;
    private static final int STACK_BITS = 17;

    /**
     * Where stacks were taken: hashes of a site and the four innermost blocks, with open addressing; 0 is
     * free. Never more than half full, and read by every report but written rarely, so that all threads
     * share it and none needs a cache of its own.
     */
    private static final long[] STACKS = new long[EMIT ? 1 << STACK_BITS : 0];
    private static int stacks;

    /** The number of an open block, counted from the innermost one; 0 if so many are not open. */
    private static int open(ScissionThread s, int inwards) {
        return inwards < s.depth ? site(s.blocks[s.depth - 1 - inwards]) : 0;
    }

    /** Takes the stack if it is the first one here, inside these blocks. The caller reports something here. */
    private static void noteStack(ScissionThread s, int site) {
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
            addStack(s.number, site, open(s, 0), open(s, 1), open(s, 2), open(s, 3));
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

    // ------------------------------------------------------------------ objects

    /** What is known of a class: its number, and where its instances have theirs. */
    static final class Shape {
        final Class<?> type;
        final int number;
        final long idOffset;
        /** The modifiers of the fields that the class declares, by name. */
        final java.util.HashMap<String, Integer> fields;
        /** Whether it is a class of the library, or extends one, whose calls others must order. */
        final boolean isUnordered;

        Shape(
                Class<?> type,
                int number,
                long idOffset,
                java.util.HashMap<String, Integer> fields,
                boolean isUnordered) {
            this.type = type;
            this.number = number;
            this.fields = fields;
            this.idOffset = idOffset;
            this.isUnordered = isUnordered;
        }
    }

    private static final class Shapes extends ClassValue<Shape> {
        @Override
        protected Shape computeValue(Class<?> type) {
            java.util.HashMap<String, Integer> fields = new java.util.HashMap<>();
            String declared = declaredFields(type);
            if (declared.isEmpty()) {
                link(type);
                declared = declaredFields(type);
            }
            String[] words = declared.split(" ");
            for (int i = 0; i + 1 < words.length; i += 2) {
                fields.put(words[i], Integer.valueOf(words[i + 1]));
            }
            long offset = 0;
            if (fields.containsKey("$scission$id")) {
                offset = U.objectFieldOffset(type, "$scission$id");
            } else if (type.getSuperclass() != null) {
                offset = get(type.getSuperclass()).idOffset;
            }
            boolean isUnordered = type.getClassLoader() == null
                ? isUnordered(type.getName())
                : type.getSuperclass() != null && get(type.getSuperclass()).isUnordered;
            return new Shape(type, classNumber(type.getName()), offset, fields, isUnordered);
        }
    }

    private static final Shapes SHAPES = new Shapes();

    /**
     * Links a class whose first use is still to come, so that it tells its fields. Asking for its
     * constructors does that without initialising it. What goes wrong will go wrong again at the use.
     */
    private static void link(Class<?> type) {
        try {
            type.getDeclaredConstructors();
        } catch (LinkageError | SecurityException ignored) {
            // Said where the program uses the class.
        }
    }

    /** The number of an object; it gets one, and is reported, when it has none. */
    private static long id(ScissionThread s, Object object) {
        Class<?> type = object.getClass();
        Shape shape = s.lastShape;
        if (shape == null || shape.type != type) {
            s.lastShape = shape = SHAPES.get(type);
        }
        if (shape.idOffset != 0) {
            long id = U.getLong(object, shape.idOffset);
            return id != 0 ? id : claim(s, object, shape);
        }
        ScissionObjects.Entry entry = ScissionObjects.find(object);
        return entry != null ? entry.id : enter(s, object, shape).id;
    }

    @DontInline
    private static long claim(ScissionThread s, Object object, Shape shape) {
        long id = U.getAndAddLong(null, NEXT_OBJECT, 1);
        if (!U.compareAndSetLong(object, shape.idOffset, 0, id)) {
            return U.getLong(object, shape.idOffset);
        }
        emit(s, ESCAPE, 0, id, shape.number);
        return id;
    }

    @DontInline
    private static ScissionObjects.Entry enter(ScissionThread s, Object object, Shape shape) {
        long id = U.getAndAddLong(null, NEXT_OBJECT, 1);
        ScissionObjects.Entry entry = ScissionObjects.add(object, id);
        if (entry.id == id) {
            emit(s, ESCAPE, 0, id, shape.number);
        }
        return entry;
    }

    // ------------------------------------------------------------------ fields

    @ForceInline
    private static long entry(int site) {
        long[] entries = ENTRIES[site >>> 12];
        return entries == null ? UNRESOLVED : entries[site & 0xfff];
    }

    private static synchronized void setEntry(int site, long entry) {
        long[] entries = ENTRIES[site >>> 12];
        if (entries == null) {
            ENTRIES[site >>> 12] = entries = new long[1 << 12];
        }
        entries[site & 0xfff] = entry;
    }

    /** A field of an object was read. */
    public static void read(Object object, int site) {
        long entry = entry(site);
        if (entry == IS_FINAL) {
            return;
        }
        ScissionThread s = Thread.currentThread().$scission;
        if (s != null && entry > 0) {
            if (!isQuietRead(s, object, entry & 0xffffffffL, site)) {
                readField(s, object, entry, site);
            }
        } else if (s == null || !isVolatile(entry) || !isQuietVolatileRead(s, object, entry, site)) {
            readOther(object, site);
        }
    }

    /** A field of an object is about to be written. */
    public static void write(Object object, int site) {
        if (object == null) {
            return;
        }
        ScissionThread s = Thread.currentThread().$scission;
        long entry = entry(site);
        if (s != null && entry > 0) {
            if (!isQuietWrite(s, object, entry & 0xffffffffL, entry >>> 32, site)) {
                writeField(s, object, entry, site);
            }
        } else {
            writeOther(object, site);
        }
    }

    @DontInline
    private static void readField(ScissionThread s, Object object, long entry, int site) {
        if (!noteRead(s, object, entry & 0xffffffffL, entry >>> 32, site)) {
            reportRead(s, object, entry & 0xffffffffL, entry >>> 32, site, fieldOwner(s, object, site),
                OF_FIELD | field(site));
        }
    }

    @DontInline
    private static void writeField(ScissionThread s, Object object, long entry, int site) {
        if (!noteWrite(s, object, entry & 0xffffffffL, entry >>> 32, site)) {
            reportWrite(s, object, entry & 0xffffffffL, entry >>> 32, site, fieldOwner(s, object, site),
                OF_FIELD | field(site));
        }
    }

    private static long fieldOwner(ScissionThread s, Object object, int site) {
        int offset = U.getInt(SITES + (long) site * 8 + 4);
        long id = offset == 0 ? 0 : U.getLong(object, (long) offset);
        return id != 0 ? id : id(s, object);
    }

    @DontInline
    private static void readOther(Object object, int site) {
        ScissionThread s = current();
        long entry = entry(site);
        if (entry == UNRESOLVED) {
            entry = firstUse(s, object.getClass(), site, false);
        }
        if (entry > 0) {
            readField(s, object, entry, site);
        } else if (isVolatile(entry)) {
            reportVolatileRead(s, object, entry, site, fieldOwner(s, object, site), OF_FIELD | field(site));
        } else if (entry == IS_VOLATILE) {
            volatileRead(s, site, id(s, object), OF_FIELD | field(site));
        } else if (entry == HAS_NO_WORDS) {
            access(s, READ, site, id(s, object), OF_FIELD | field(site));
        }
    }

    @DontInline
    private static void writeOther(Object object, int site) {
        ScissionThread s = current();
        long entry = entry(site);
        if (entry == UNRESOLVED) {
            entry = firstUse(s, object.getClass(), site, false);
        }
        if (entry > 0) {
            writeField(s, object, entry, site);
        } else if (isVolatile(entry)) {
            reportVolatileWrite(s, object, entry, site, fieldOwner(s, object, site), OF_FIELD | field(site));
        } else if (entry == IS_VOLATILE) {
            volatileWrite(s, site, id(s, object), OF_FIELD | field(site));
        } else if (entry == HAS_NO_WORDS) {
            access(s, WRITE, site, id(s, object), OF_FIELD | field(site));
        }
    }

    private static long field(int site) {
        return U.getInt(SITES + (long) site * 8) & 0xffffffffL;
    }

    /** An access to a variable without words: nothing is known of it, so it is always reported. */
    private static void access(ScissionThread s, int kind, int site, long first, long second) {
        bump(s);
        emit(s, kind, site, first, second);
    }

    private static void volatileRead(ScissionThread s, int site, long first, long second) {
        bump(s);
        emit(s, VOLATILE_READ, site, first, second);
    }

    private static void volatileWrite(ScissionThread s, int site, long first, long second) {
        // It receives from the accesses that it follows, and is received from.
        bump(s);
        emit(s, VOLATILE_WRITE, site, first, second);
        bump(s);
    }

    // ------------------------------------------------------------------ the filters

    /**
     * The common cases of a read that is not reported, short enough to be compiled into every access: the
     * thread has read the variable in this epoch, or not long ago and since the last write.
     */
    private static boolean isQuietRead(ScissionThread s, Object base, long r, int site) {
        if (!EPOCHS) {
            return false;
        }
        long epoch = s.epoch;
        long read = U.getLong(base, r);
        if ((read ^ epoch) >>> SITE_BITS == 0) {
            return true;
        }
        if (read > 0) {
            if (OWNERSHIP && owner(read) == s.number) {
                U.putLong(base, r, epoch | site);
                return true;
            }
            return false;
        }
        if (read == 0) {
            return false;
        }
        long note = s.notes + ((read & SHARED_INDEX) << 3);
        long noted = U.getLong(null, note);
        if ((noted ^ epoch) >>> SITE_BITS == 0) {
            return true;
        }
        if (OWNERSHIP && !LOCKSETS && noted != 0 && owner(noted) == s.number) {
            U.putLong(null, note, epoch | site);
            return true;
        }
        return false;
    }

    /** The common cases of a write that is not reported: of a new object, or of one that only we use. */
    private static boolean isQuietWrite(ScissionThread s, Object base, long r, long w, int site) {
        if (!EPOCHS) {
            return false;
        }
        long epoch = s.epoch;
        long write = U.getLong(base, w);
        if ((write ^ epoch) >>> SITE_BITS == 0) {
            return true;
        }
        if (OWNERSHIP && (write == 0 || write > 0 && owner(write) == s.number)) {
            long read = U.getLong(base, r);
            if (read == 0 || read > 0 && owner(read) == s.number) {
                U.putLong(base, w, epoch | site);
                return true;
            }
        }
        return false;
    }

    /** Whether a read need not be reported now: it says nothing new, or it is noted. */
    private static boolean noteRead(ScissionThread s, Object base, long r, long w, int site) {
        if (!EPOCHS) {
            bump(s);
        }
        long word = s.epoch | site;
        long write = U.getLong(base, w);
        long read = U.getLong(base, r);
        if (read < 0) {
            return noteSharedRead(s, read, write, word);
        }
        boolean isOwn = (write ^ word) >>> SITE_BITS == 0
            || OWNERSHIP && (read != 0 ? owner(read) == s.number : write == 0 || owner(write) == s.number);
        if (isOwn) {
            U.putLong(base, r, word);
        }
        return isOwn;
    }

    /** The same for a variable whose reads are noted by thread. */
    private static boolean noteSharedRead(ScissionThread s, long read, long write, long word) {
        if (!OWNERSHIP || LOCKSETS || read == READ_SHARED || !takesNotes(s)) {
            return (write ^ word) >>> SITE_BITS == 0;
        }
        long note = s.notes + ((read & SHARED_INDEX) << 3);
        long noted = U.getLong(null, note);
        boolean isOwn = noted != 0
            ? owner(noted) == s.number
            : write << 1 == 0 || owner(write) == s.number;
        if (isOwn) {
            U.putLong(null, note, word);
        }
        return isOwn;
    }

    /** Whether a write need not be reported now. */
    private static boolean noteWrite(ScissionThread s, Object base, long r, long w, int site) {
        if (!EPOCHS) {
            bump(s);
        }
        long write = U.getLong(base, w);
        long read = U.getLong(base, r);
        boolean isOwn = OWNERSHIP
            && (write == 0 || write > 0 && owner(write) == s.number)
            && (read == 0 || read < 0 && write != 0 && !LOCKSETS || read > 0 && owner(read) == s.number);
        if (isOwn) {
            U.putLong(base, w, s.epoch | site);
        }
        return isOwn;
    }

    /** Reports a read, and before it what it follows. */
    @DontInline
    private static void reportRead(
            ScissionThread s, Object base, long r, long w, int site, long first, long second) {
        long write;
        boolean receives;
        do {
            write = U.getLong(base, w);
            receives = isOther(s, write);
        } while (write >= 0 && (receives || write == 0)
            && !U.compareAndSetLong(base, w, write, write | READ_SINCE));
        if (write > 0) {
            earlier(EARLIER_WRITE, write, first, second);
        }
        long read = U.getLong(base, r);
        boolean isSecondReader = read > 0 && owner(read) != s.number;
        if (isSecondReader) {
            earlier(EARLIER_READ, read, first, second);
        }
        if (isSecondReader || LOCKSETS && receives && read >= 0) {
            // From now on each thread notes its own reads.
            read = shareReads();
            U.putLong(base, r, read);
        }
        if (read >= 0) {
            if (receives) {
                bump(s);
            }
            U.putLong(base, r, s.epoch | site);
        } else if (read == READ_SHARED || !takesNotes(s)) {
            if (isCached(s, first, second, write, receives)) {
                return;
            }
        } else {
            long note = s.notes + ((read & SHARED_INDEX) << 3);
            long noted = U.getLong(null, note);
            if (noted != 0 && owner(noted) != s.number) {
                // A thread that has ended had this region before.
                earlier(EARLIER_READ, noted, first, second);
                noted = 0;
            }
            if (receives && noted == 0) {
                bump(s);
            }
            U.putLong(null, note, s.epoch | site);
        }
        emit(s, READ, site, first, second);
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
            bump(s);
        }
        cache[index] = first;
        cache[index + 1] = second;
        cache[index + 2] = write | READ_SINCE;
        cache[index + 3] = s.epoch;
        return false;
    }

    /** Reports a write, and before it what it follows. */
    @DontInline
    private static void reportWrite(
            ScissionThread s, Object base, long r, long w, int site, long first, long second) {
        long write = U.getLong(base, w);
        long read = U.getLong(base, r);
        if (write > 0 && owner(write) != s.number) {
            earlier(EARLIER_WRITE, write, first, second);
        }
        if (read > 0 && owner(read) != s.number) {
            earlier(EARLIER_READ, read, first, second);
        }
        if (read < 0 && read != READ_SHARED) {
            collectReads(s, read, first, second);
        } else if (LOCKSETS && (read < 0 || isOther(s, read) || isOther(s, write))) {
            // A second thread has come, now or before.
            U.putLong(base, r, read < 0 ? READ_SHARED : shareReads());
        } else if (read != 0) {
            U.putLong(base, r, 0);
        }
        bump(s);
        U.putLong(base, w, s.epoch | site);
        emit(s, WRITE, site, first, second);
    }

    /** Whether a word holds what another thread did. */
    private static boolean isOther(ScissionThread s, long word) {
        return word << 1 != 0 && owner(word) != s.number;
    }

    private static int sharedVariables;
    private static int usedRegions;
    private static final int[] FREE_REGIONS = new int[REGIONS];
    private static int freeRegions;

    /** An index for the notes of a variable that several threads read. */
    private static synchronized long shareReads() {
        return sharedVariables < SHARED_INDEX ? Long.MIN_VALUE | sharedVariables++ : READ_SHARED;
    }

    /** Whether a thread has a region for its notes; it gets one if there is one. */
    private static boolean takesNotes(ScissionThread s) {
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
    private static synchronized void returnRegion(ScissionThread s) {
        if (s.notes != NO_NOTES) {
            s.notes = NO_NOTES;
            FREE_REGIONS[freeRegions++] = s.region;
        }
    }

    /** Reports and clears what all threads have noted of their reads of a variable. */
    private static void collectReads(ScissionThread s, long read, long first, long second) {
        long note = NOTES + ((read & SHARED_INDEX) << 3);
        for (int region = 0; region < usedRegions; region++) {
            long noted = U.getLong(null, note);
            if (noted != 0) {
                noted = U.getAndSetLong(null, note, 0);
                if (noted != 0 && owner(noted) != s.number) {
                    earlier(EARLIER_READ, noted, first, second);
                }
            }
            note += 1L << SHARED_BITS + 3;
        }
    }

    // ------------------------------------------------------------------ volatile variables

    @ForceInline
    private static boolean isVolatile(long entry) {
        // Numbers of classes are far from where addresses are.
        return entry < -(1L << 56);
    }

    /** Whether a read of a volatile variable need not be reported now: the thread has read it since the last write. */
    private static boolean isQuietVolatileRead(ScissionThread s, Object base, long entry, int site) {
        if (!VOLATILE_NOTES) {
            return false;
        }
        long index = U.getLong(base, entry - VOLATILE);
        if (index >= 0) {
            return false;
        }
        long note = s.notes + ((index & SHARED_INDEX) << 3);
        long noted = U.getLongVolatile(null, note);
        if (noted == 0 || owner(noted) != s.number) {
            return false;
        }
        return (noted ^ s.epoch) >>> SITE_BITS == 0
            || !LOCKSETS && U.compareAndSetLong(null, note, noted, s.epoch | site);
    }

    /** Reports a read of a volatile variable, and notes it before. */
    private static void reportVolatileRead(
            ScissionThread s, Object base, long entry, int site, long first, long second) {
        bump(s);
        if (VOLATILE_NOTES && takesNotes(s)) {
            long index = volatileIndex(base, entry - VOLATILE);
            if (index < 0 && (index & WRITERS) == 0 && (index & SHARED_INDEX) != SHARED_INDEX) {
                long note = s.notes + ((index & SHARED_INDEX) << 3);
                long word = s.epoch | site;
                long before = U.getAndSetLong(null, note, word);
                if (before != 0 && owner(before) != s.number) {
                    // A thread that has ended had this region before.
                    earlier(EARLIER_READ, before, first, second);
                }
                if ((U.getLongVolatile(base, entry - VOLATILE) & WRITERS) != 0) {
                    U.compareAndSetLong(null, note, word, 0);
                }
            }
        }
        emit(s, VOLATILE_READ, site, first, second);
    }

    /** The word R of a volatile variable, which gets an index if it has none and nobody writes it. */
    private static long volatileIndex(Object base, long r) {
        long index = U.getLongVolatile(base, r);
        if (index != 0) {
            return index;
        }
        long fresh = shareReads();
        if (fresh == READ_SHARED) {
            fresh = Long.MIN_VALUE | SHARED_INDEX;
        }
        // Of two threads that come first, one wastes an index.
        return U.compareAndSetLong(base, r, 0, fresh) ? fresh : U.getLongVolatile(base, r);
    }

    /** Reports a write of a volatile variable, and before it the reads that were noted. */
    private static void reportVolatileWrite(
            ScissionThread s, Object base, long entry, int site, long first, long second) {
        if (!VOLATILE_NOTES) {
            volatileWrite(s, site, first, second);
            return;
        }
        long r = entry - VOLATILE;
        long index = U.getAndAddLong(base, r, WRITER);
        if (index < 0) {
            collectReads(s, index, first, second);
        }
        volatileWrite(s, site, first, second);
        U.getAndAddLong(base, r, -WRITER);
    }

    // ------------------------------------------------------------------ statics

    /** A static field was read. */
    public static void readStatic(Class<?> owner, int site) {
        ScissionThread s = Thread.currentThread().$scission;
        long entry = entry(site);
        if (s != null && entry > 0) {
            if (!isQuietRead(s, null, entry, site)) {
                readStaticWords(s, entry, site);
            }
        } else if (s == null || entry > FINAL_OF_CLASS) {
            readOtherStatic(owner, site);
        } else if (isVolatile(entry)
            ? !isQuietVolatileRead(s, null, entry, site)
            : !s.sees((int) (FINAL_OF_CLASS - entry))) {
            readOtherStatic(owner, site);
        }
    }

    /** A static field is about to be written. */
    public static void writeStatic(Class<?> owner, int site) {
        ScissionThread s = Thread.currentThread().$scission;
        long entry = entry(site);
        if (s != null && entry > 0) {
            if (!isQuietWrite(s, null, entry, entry + 8, site)) {
                writeStaticWords(s, entry, site);
            }
        } else {
            writeOtherStatic(owner, site);
        }
    }

    /** A static field was read, in a class file that cannot name its class. */
    public static void readStatic(int site) {
        readStatic(null, site);
    }

    /** A static field is about to be written, in a class file that cannot name its class. */
    public static void writeStatic(int site) {
        writeStatic(null, site);
    }

    @DontInline
    private static void readStaticWords(ScissionThread s, long entry, int site) {
        uses(s, classOfStatic(site), site);
        if (!noteRead(s, null, entry, entry + 8, site)) {
            reportRead(s, null, entry, entry + 8, site, 0, OF_STATIC | field(site));
        }
    }

    @DontInline
    private static void writeStaticWords(ScissionThread s, long entry, int site) {
        uses(s, classOfStatic(site), site);
        if (!noteWrite(s, null, entry, entry + 8, site)) {
            reportWrite(s, null, entry, entry + 8, site, 0, OF_STATIC | field(site));
        }
    }

    @DontInline
    private static void readOtherStatic(Class<?> owner, int site) {
        ScissionThread s = current();
        long entry = entry(site);
        if (entry == UNRESOLVED) {
            entry = firstUse(s, owner, site, true);
        }
        if (entry > 0) {
            readStaticWords(s, entry, site);
        } else if (isVolatile(entry)) {
            reportVolatileRead(s, null, entry, site, 0, OF_STATIC | field(site));
        } else if (entry == IS_VOLATILE) {
            volatileRead(s, site, 0, OF_STATIC | field(site));
        } else if (entry == HAS_NO_WORDS) {
            uses(s, classOfStatic(site), site);
            access(s, READ, site, 0, OF_STATIC | field(site));
        } else if (entry <= FINAL_OF_CLASS) {
            uses(s, (int) (FINAL_OF_CLASS - entry), site);
        }
    }

    @DontInline
    private static void writeOtherStatic(Class<?> owner, int site) {
        ScissionThread s = current();
        long entry = entry(site);
        if (entry == UNRESOLVED) {
            entry = firstUse(s, owner, site, true);
        }
        if (entry > 0) {
            writeStaticWords(s, entry, site);
        } else if (isVolatile(entry)) {
            reportVolatileWrite(s, null, entry, site, 0, OF_STATIC | field(site));
        } else if (entry == IS_VOLATILE) {
            volatileWrite(s, site, 0, OF_STATIC | field(site));
        } else if (entry == HAS_NO_WORDS) {
            uses(s, classOfStatic(site), site);
            access(s, WRITE, site, 0, OF_STATIC | field(site));
        }
    }

    /** Notes that a thread uses a class, and reports it the first time. */
    private static void uses(ScissionThread s, int classNumber, int site) {
        if (!s.sees(classNumber)) {
            s.see(classNumber);
            bump(s);
            emit(s, CLASS_USED, site, classNumber, 0);
        }
    }

    /** The class of this site has been initialised. */
    public static void initialised(Class<?> type, int site) {
        ScissionThread s = current();
        emit(s, CLASS_INITIALISED, site, SHAPES.get(type).number, 0);
        bump(s);
    }

    // ------------------------------------------------------------------ what a site refers to

    private static final java.util.HashMap<String, Long> STATIC_WORDS = new java.util.HashMap<>();

    /**
     * Finds the declaration behind a site, the first time that it runs. The stack of that moment is the only
     * one of a site whose accesses are all reported late.
     */
    @DontInline
    private static long firstUse(ScissionThread s, Class<?> from, int site, boolean isStatic) {
        long entry = resolve(from, site, isStatic);
        if (EMIT && entry > 0) {
            noteStack(s, site);
        }
        return entry;
    }

    private static synchronized long resolve(Class<?> from, int site, boolean isStatic) {
        long known = entry(site);
        if (known != UNRESOLVED) {
            return known;
        }
        String[] target = target(site).split(" ");
        long entry = find(from, target[0].replace('/', '.'), target[1], site, isStatic);
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
            int owner = classNumber(ownerName);
            setField(site, fieldNumber(owner, name), isStatic ? owner : 0);
            return HAS_NO_WORDS;
        }
        Shape shape = SHAPES.get(declaring);
        int modifiers = shape.fields.get(name);
        if ((modifiers & 0x10) != 0) {
            return isStatic ? FINAL_OF_CLASS - shape.number : IS_FINAL;
        }
        int field = fieldNumber(shape.number, name);
        setField(site, field, isStatic ? shape.number : (int) shape.idOffset);
        boolean isVolatile = (modifiers & 0x40) != 0;
        if (isStatic) {
            long words = staticWords(shape.number + " " + name);
            return isVolatile ? words > 0 ? VOLATILE + words : IS_VOLATILE : words;
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

    private static Class<?> declaringClass(Class<?> from, String name, boolean isStatic) {
        for (Class<?> c = from; c != null; c = c.getSuperclass()) {
            Integer modifiers = SHAPES.get(c).fields.get(name);
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

    /** What is known of the field of a site; beside its number where objects have theirs, or the class of a static one. */
    private static void setField(int site, int field, int idOffsetOrClass) {
        U.putInt(SITES + (long) site * 8, field);
        U.putInt(SITES + (long) site * 8 + 4, idOffsetOrClass);
    }

    /** The class that declares the static field of a site. */
    private static int classOfStatic(int site) {
        return U.getInt(SITES + (long) site * 8 + 4);
    }

    private static long staticWords(String key) {
        Long known = STATIC_WORDS.get(key);
        if (known == null && STATIC_WORDS.size() == MAX_STATICS) {
            return HAS_NO_WORDS;
        }
        if (known == null) {
            known = STATICS + (long) STATIC_WORDS.size() * 16;
            STATIC_WORDS.put(key, known);
        }
        return known;
    }

    // ------------------------------------------------------------------ array elements

    /** An element of an array is about to be read. */
    public static void readElement(Object array, int index, int site) {
        if (array == null || index < 0 || index >= java.lang.reflect.Array.getLength(array)) {
            return;
        }
        ScissionThread s = current();
        if (EMIT && entry(site) == UNRESOLVED) {
            firstElement(s, site);
        }
        long[] words = words(s, array);
        long r = LONGS + (long) index * 16;
        if (!isQuietRead(s, words, r, site) && !noteRead(s, words, r, r + 8, site)) {
            reportRead(s, words, r, r + 8, site, s.lastArray.id, OF_ELEMENT | index);
        }
    }

    /** An element of an array is about to be written. */
    public static void writeElement(Object array, int index, int site) {
        if (array == null || index < 0 || index >= java.lang.reflect.Array.getLength(array)) {
            return;
        }
        ScissionThread s = current();
        if (EMIT && entry(site) == UNRESOLVED) {
            firstElement(s, site);
        }
        long[] words = words(s, array);
        long r = LONGS + (long) index * 16;
        if (!isQuietWrite(s, words, r, r + 8, site) && !noteWrite(s, words, r, r + 8, site)) {
            reportWrite(s, words, r, r + 8, site, s.lastArray.id, OF_ELEMENT | index);
        }
    }

    /** The stack of the first access is the only one of a site whose accesses are all reported late. */
    @DontInline
    private static void firstElement(ScissionThread s, int site) {
        setEntry(site, IS_FINAL);
        noteStack(s, site);
    }

    private static long[] words(ScissionThread s, Object array) {
        ScissionObjects.Entry entry = s.lastArray;
        if (entry != null && entry.get() == array) {
            return entry.words;
        }
        entry = ScissionObjects.find(array);
        if (entry == null) {
            entry = enter(s, array, SHAPES.get(array.getClass()));
        }
        long[] words = entry.words;
        if (words == null) {
            synchronized (entry) {
                words = entry.words;
                if (words == null) {
                    int length = java.lang.reflect.Array.getLength(array);
                    entry.words = words = new long[Math.multiplyExact(length, 2)];
                }
            }
        }
        s.lastArray = entry;
        return words;
    }

    // ------------------------------------------------------------------ locks

    /** A monitor is about to be entered: its number is taken while it is free. */
    public static void prepare(Object object) {
        if (object != null) {
            ScissionThread s = current();
            s.preparedId = lockId(s, object);
            s.prepared = object;
        }
    }

    /** The monitor that was prepared has been entered. */
    public static void entered(int site) {
        ScissionThread s = current();
        Object object = s.prepared;
        s.prepared = null;
        if (object != null) {
            acquire(s, object, s.preparedId, site);
        }
    }

    /** A monitor is about to be left. */
    public static void exit(Object object, int site) {
        ScissionThread s = current();
        release(s, findHeld(s, object), site);
    }

    /** A synchronized method has begun. */
    public static void enterMethod(Object object, int site) {
        ScissionThread s = current();
        enterMethod(s, object, lockId(s, object), site);
    }

    /** A synchronized method has begun, in a class file that cannot name its class. */
    public static void enterMethod(int site) {
        enterMethod(current(), null, UNNAMED_CLASSES | classOfSite(site), site);
    }

    private static void enterMethod(ScissionThread s, Object object, long id, int site) {
        if (s.methods == s.methodLocks.length) {
            s.methodLocks = java.util.Arrays.copyOf(s.methodLocks, s.methods * 2);
        }
        acquire(s, object, id, site);
        s.methodLocks[s.methods++] = id;
        if (ScissionAdversary.IS_AT_WORK && ScissionAdversary.isSuspect(site)) {
            ScissionAdversary.suspectCall(s);
        }
    }

    /** The innermost synchronized method is about to end. */
    public static void leaveMethod(int site) {
        ScissionThread s = current();
        if (s.methods > 0) {
            release(s, findHeld(s, s.methodLocks[--s.methods]), site);
        }
    }

    private static long lockId(ScissionThread s, Object object) {
        // What is held already need not be looked up: a locked object does so slowly.
        int at = findHeld(s, object);
        return at >= 0 ? s.lockIds[at] : id(s, object);
    }

    private static int findHeld(ScissionThread s, Object object) {
        int at = s.held - 1;
        while (at >= 0 && s.locks[at] != object) {
            at--;
        }
        return at;
    }

    private static int findHeld(ScissionThread s, long id) {
        int at = s.held - 1;
        while (at >= 0 && s.lockIds[at] != id) {
            at--;
        }
        return at;
    }

    /** A lock is held now. Read locks have complemented numbers. */
    private static void acquire(ScissionThread s, Object object, long id, int site) {
        int at = findHeld(s, id);
        if (at >= 0) {
            s.holds[at]++;
            return;
        }
        at = s.held;
        if (at == s.locks.length) {
            s.locks = java.util.Arrays.copyOf(s.locks, at * 2);
            s.lockIds = java.util.Arrays.copyOf(s.lockIds, at * 2);
            s.holds = java.util.Arrays.copyOf(s.holds, at * 2);
        }
        s.locks[at] = object;
        s.lockIds[at] = id;
        s.holds[at] = 1;
        s.held = at + 1;
        bump(s);
        emit(s, ACQUIRE, site, id < 0 ? ~id : id, id < 0 ? 1 : 0);
    }

    private static void release(ScissionThread s, int at, int site) {
        if (at < 0 || --s.holds[at] > 0) {
            return;
        }
        long id = s.lockIds[at];
        emit(s, RELEASE, site, id < 0 ? ~id : id, id < 0 ? 1 : 0);
        bump(s);
        int after = s.held - at - 1;
        if (after > 0) {
            System.arraycopy(s.locks, at + 1, s.locks, at, after);
            System.arraycopy(s.lockIds, at + 1, s.lockIds, at, after);
            System.arraycopy(s.holds, at + 1, s.holds, at, after);
        }
        s.locks[--s.held] = null;
    }

    private static void waits(ScissionThread s, Object object, int site) {
        long id = id(s, object);
        if (findHeld(s, id) >= 0) {
            emit(s, WAIT, site, id, 0);
            bump(s);
            s.waiting = id;
            s.waitingSite = site;
        }
    }

    private static void woken(ScissionThread s) {
        long id = s.waiting;
        if (id != 0) {
            s.waiting = 0;
            bump(s);
            emit(s, WOKEN, s.waitingSite, id, 0);
        }
    }

    // ------------------------------------------------------------------ atomic blocks

    /** An atomic block begins. */
    public static void begin(int site) {
        ScissionThread s = current();
        int depth = s.depth;
        if (depth == s.blocks.length) {
            moreBlocks(s);
        }
        if (hasThreads || depth == 0) {
            bump(s);
        }
        s.blocks[depth] = s.epoch | site;
        s.depth = depth + 1;
    }

    @DontInline
    private static void moreBlocks(ScissionThread s) {
        s.blocks = java.util.Arrays.copyOf(s.blocks, s.blocks.length * 2);
    }

    /** The innermost atomic block ends. */
    public static void end(int site) {
        ScissionThread s = current();
        int depth = s.depth - 1;
        if (depth >= s.reported && site(s.blocks[depth]) == site) {
            s.depth = depth;
        } else {
            endReported(s, site);
        }
    }

    /** Ends a block that was reported; and blocks inside it that an error has cut short. */
    @DontInline
    private static void endReported(ScissionThread s, int site) {
        int depth = s.depth - 1;
        while (depth >= 0 && site(s.blocks[depth]) != site) {
            depth--;
        }
        if (depth < 0) {
            return;
        }
        while (s.depth > depth) {
            if (s.reported == s.depth) {
                emit(s, END, site(s.blocks[s.depth - 1]), 0, 0);
                s.reported--;
            }
            s.depth--;
        }
        bump(s);
    }

    // ------------------------------------------------------------------ tasks

    /** The site number that stands for the body of a lambda, by the class of the lambda. */
    private static final ClassValue<long[]> LAMBDA_BODY = new LambdaBodies();

    private static final class LambdaBodies extends ClassValue<long[]> {
        @Override
        protected long[] computeValue(Class<?> type) {
            return new long[1];
        }
    }

    /** The numbers of the tasks that lambda bodies stand for, by the site of the body. */
    private static final java.util.concurrent.ConcurrentHashMap<Integer, Long> BODY_TASKS =
        new java.util.concurrent.ConcurrentHashMap<>();

    /** The executor that a task was last submitted to: whoever waits for it waits for its tasks. */
    private static final java.util.concurrent.ConcurrentHashMap<Long, Long> EXECUTORS =
        new java.util.concurrent.ConcurrentHashMap<>();

    /** The stages that end before a task begins, by the task. */
    private static final java.util.concurrent.ConcurrentHashMap<Long, long[]> STAGES =
        new java.util.concurrent.ConcurrentHashMap<>();

    /** The futures that a future stands for. */
    private static final java.util.concurrent.ConcurrentHashMap<Long, long[]> PARTS =
        new java.util.concurrent.ConcurrentHashMap<>();

    /** Stages of one task, or parts of one future, that are remembered; the oldest is forgotten first. */
    private static final int MOST_STAGES = 64;

    /** What whoever works off a parallel stream publishes to, and what its callbacks do. */
    private static final Object STREAMS_BEGUN = new Object();
    private static final Object STREAMS_DONE = new Object();
    /** The number that callbacks of streams have as tasks. */
    private static final long OF_STREAM = Long.MAX_VALUE;

    /** Adds a number to those that are known for another. */
    private static synchronized void remember(
            java.util.concurrent.ConcurrentHashMap<Long, long[]> known, long of, long number) {
        long[] before = known.get(of);
        if (before == null) {
            before = new long[0];
        }
        for (long one : before) {
            if (one == number) {
                return;
            }
        }
        int from = before.length < MOST_STAGES ? 0 : 1;
        long[] all = java.util.Arrays.copyOfRange(before, from, before.length + 1);
        all[all.length - 1] = number;
        known.put(of, all);
    }

    /** A stage has ended, by its task or by hand; so has everything that it stands for. */
    private static void joinStage(ScissionThread s, long stage, int depth, int site) {
        emit(s, TASK_JOIN, site, stage, 0);
        emit(s, RECEIVE, site, stage, 0);
        joinParts(s, stage, depth, site);
    }

    private static void joinParts(ScissionThread s, long stage, int depth, int site) {
        long[] parts = depth == 0 || PARTS.isEmpty() ? null : PARTS.get(stage);
        if (parts != null) {
            for (long part : parts) {
                joinStage(s, part, depth - 1, site);
            }
        }
    }

    /** A lambda was made: all lambdas of its class have the same body. */
    public static void lambda(Object lambda, int body, int site) {
        if (entry(site) == UNRESOLVED) {
            newLambda(lambda, body, site);
        }
    }

    @DontInline
    private static void newLambda(Object lambda, int body, int site) {
        if (lambda != null) {
            LAMBDA_BODY.get(lambda.getClass())[0] = body;
            setEntry(site, IS_FINAL);
        }
    }

    /** The number of a task: its own, or that of its body if it is a lambda. */
    private static long taskId(ScissionThread s, Object task) {
        if (task.getClass().isSynthetic()) {
            int body = (int) LAMBDA_BODY.get(task.getClass())[0];
            if (body != 0) {
                Long known = BODY_TASKS.get(body);
                if (known == null) {
                    long fresh = id(s, task);
                    Long raced = BODY_TASKS.putIfAbsent(body, fresh);
                    known = raced == null ? Long.valueOf(fresh) : raced;
                }
                return known;
            }
        }
        return id(s, task);
    }

    /** The body of a task begins. */
    public static void taskBegin(Object task, int site) {
        ScissionThread s = current();
        Shape shape = SHAPES.get(task.getClass());
        long id = shape.idOffset == 0 ? 0 : U.getLong(task, shape.idOffset);
        pushTask(s, id, site);
    }

    /** The body of a lambda begins. */
    public static void lambdaBegin(int body, int site) {
        Long id = BODY_TASKS.isEmpty() ? null : BODY_TASKS.get(body);
        ScissionThread s = current();
        if (id != null && id == OF_STREAM) {
            // The thread that works off a stream knows itself what it does in between.
            boolean isWorker =
                Thread.currentThread() instanceof java.util.concurrent.ForkJoinWorkerThread;
            pushTask(s, 0, site);
            if (isWorker) {
                s.tasks[s.running - 1] = OF_STREAM;
                receive(s, RECEIVE, STREAMS_BEGUN, site);
            }
            return;
        }
        pushTask(s, id == null ? 0 : ~id, site);
    }

    private static void pushTask(ScissionThread s, long id, int site) {
        if (s.running == s.tasks.length) {
            s.tasks = java.util.Arrays.copyOf(s.tasks, s.running * 2);
        }
        s.tasks[s.running++] = id;
        if (id != 0) {
            long task = id < 0 ? ~id : id;
            bump(s);
            long[] stages = STAGES.isEmpty() ? null : STAGES.get(task);
            if (stages != null) {
                for (long stage : stages) {
                    joinStage(s, stage, 4, site);
                }
            }
            emit(s, TASK_BEGIN, site, task, 0);
        }
    }

    /** The innermost task ends. */
    public static void taskEnd(int site) {
        ScissionThread s = current();
        if (s.running > 0) {
            long id = s.tasks[--s.running];
            if (id == 0) {
                return;
            }
            if (id == OF_STREAM) {
                publish(s, PUBLISH, STREAMS_DONE, site);
                return;
            }
            // Bodies of lambdas are tasks again and again; other tasks rarely are.
            Long executor = id < 0 ? EXECUTORS.get(~id) : EXECUTORS.remove(id);
            emit(s, TASK_END, site, id < 0 ? ~id : id, 0);
            if (executor != null) {
                emit(s, TASK_END, site, executor, 0);
            }
            bump(s);
        }
    }

    // ------------------------------------------------------------------ library calls

    /** Something that a library call does to an operand; the numbers are those of `ops.rs`. */
    public static void call(Object operand, int op, int site) {
        if (operand == null) {
            return;
        }
        ScissionThread s = current();
        switch (op) {
            case 1: // ACQUIRE
                if (isLock(operand)) {
                    acquire(s, operand, lockOf(s, operand), site);
                }
                break;
            case 2: // ACQUIRE_SHARED
                acquire(s, operand, ~id(s, operand), site);
                break;
            case 3: // RELEASE
                if (isLock(operand)) {
                    long lock = lockOf(s, operand);
                    int at = findHeld(s, lock);
                    release(s, at >= 0 ? at : findHeld(s, ~lock), site);
                }
                break;
            case 4: // RELEASE_SHARED
                release(s, findHeld(s, ~id(s, operand)), site);
                break;
            case 5: // WAIT
                waits(s, operand, site);
                break;
            case 6: // WOKEN
                woken(s);
                break;
            case 7: // NOTIFY
                publish(s, NOTIFY, operand, site);
                break;
            case 8: // NOTIFY_ALL
                publish(s, NOTIFY_ALL, operand, site);
                break;
            case 9: // FORK
                if (operand instanceof Thread) {
                    fork(s, (Thread) operand, site);
                }
                break;
            case 10: // JOIN
                if (operand instanceof Thread) {
                    join(s, (Thread) operand, site);
                }
                break;
            case 11: // SUBMIT
                submit(s, operand, site);
                break;
            case 12: // TASK_JOIN
                bump(s);
                for (Object task : each(operand)) {
                    long joined = taskId(s, task);
                    emit(s, TASK_JOIN, site, joined, 0);
                    joinParts(s, joined, 4, site);
                }
                break;
            case 13: // PUBLISH
                publish(s, PUBLISH, operand, site);
                break;
            case 14: // RECEIVE
                receive(s, RECEIVE, operand, site);
                break;
            case 15: // ATOMIC_READ
                volatileRead(s, site, id(s, operand), OF_CONTENTS);
                break;
            case 16: // ATOMIC_WRITE
                volatileWrite(s, site, id(s, operand), OF_CONTENTS);
                break;
            case 17: { // ATOMIC_UPDATE
                long id = id(s, operand);
                bump(s);
                emit(s, ATOMIC_UPDATE, site, id, OF_CONTENTS);
                bump(s);
                break;
            }
            case 18: // SYNCHRONIZED_READ
                insideMonitor(s, READ, operand, site);
                break;
            case 19: // SYNCHRONIZED_WRITE
                insideMonitor(s, WRITE, operand, site);
                break;
            case 20: // CONTENTS_READ
                access(s, READ, site, id(s, operand), OF_CONTENTS);
                break;
            case 21: // CONTENTS_WRITE
                access(s, WRITE, site, id(s, operand), OF_CONTENTS);
                break;
            case 22: // ARRIVE
                publish(s, BARRIER_ARRIVE, operand, site);
                break;
            case 23: // PASS
                receive(s, BARRIER_PASS, operand, site);
                break;
            case 24: // COUNT_DOWN
                publish(s, LATCH_DOWN, operand, site);
                break;
            case 25: // LATCH_PASS
                receive(s, LATCH_PASS, operand, site);
                break;
            case 26: // SUBMIT_ALL
                for (Object task : each(operand)) {
                    submit(s, task, site);
                }
                break;
            case 27: // SYNCHRONIZED
                insideMonitor(s, 0, operand, site);
                break;
            case 28: // SUBMITTED_TO
                if (s.submitted != 0) {
                    EXECUTORS.put(s.submitted, id(s, operand));
                }
                break;
            case 29: // INTERFACE_READ
                if (SHAPES.get(operand.getClass()).isUnordered) {
                    access(s, READ, site, id(s, operand), OF_CONTENTS);
                }
                break;
            case 30: // INTERFACE_WRITE
                if (SHAPES.get(operand.getClass()).isUnordered) {
                    access(s, WRITE, site, id(s, operand), OF_CONTENTS);
                }
                break;
            case 31: // SUBMITTED_AFTER
                if (s.submitted != 0) {
                    remember(STAGES, s.submitted, id(s, operand));
                }
                break;
            case 32: // GATHER
                s.gathered = each(operand);
                break;
            case 33: // GATHERED
                if (s.gathered != null) {
                    long all = id(s, operand);
                    for (Object part : s.gathered) {
                        remember(PARTS, all, taskId(s, part));
                    }
                    s.gathered = null;
                }
                break;
            case 34: // STREAM_STEP
                streamStep(operand);
                break;
            case 35: // STREAM_BEGIN
                if (isParallel(operand)) {
                    publish(s, PUBLISH, STREAMS_BEGUN, site);
                }
                break;
            case 36: // STREAM_END
                if (isParallel(operand)) {
                    receive(s, RECEIVE, STREAMS_DONE, site);
                }
                break;
            case 37: // SYNCHRONIZED_LOOK
                insideMonitor(s, VOLATILE_READ, operand, site);
                break;
            case 38: // SYNCHRONIZED_CHANGE
                insideMonitor(s, ATOMIC_UPDATE, operand, site);
                break;
            case 39: // ACQUIRE_MODELLED
                acquire(s, operand, id(s, operand), site);
                break;
            case 40: // RELEASE_MODELLED
                release(s, findHeld(s, id(s, operand)), site);
                break;
            default:
                break;
        }
    }

    /** Notes that a body is one of a callback of a stream. */
    private static void streamStep(Object callback) {
        if (callback.getClass().isSynthetic()) {
            int body = (int) LAMBDA_BODY.get(callback.getClass())[0];
            if (body != 0) {
                BODY_TASKS.putIfAbsent(body, OF_STREAM);
            }
        }
    }

    private static boolean isParallel(Object stream) {
        return stream instanceof java.util.stream.BaseStream
            && stream.getClass().getClassLoader() == null
            && ((java.util.stream.BaseStream<?, ?>) stream).isParallel();
    }

    /** The elements of a collection of the library or of an array; anything else stands for itself. */
    private static Object[] each(Object operand) {
        Object[] elements = {operand};
        if (operand instanceof Object[]) {
            elements = (Object[]) operand;
        } else if (operand instanceof java.util.Collection
            && operand.getClass().getClassLoader() == null) {
            elements = ((java.util.Collection<?>) operand).toArray();
        }
        int kept = 0;
        Object[] present = new Object[elements.length];
        for (Object element : elements) {
            if (element != null) {
                present[kept++] = element;
            }
        }
        return java.util.Arrays.copyOf(present, kept);
    }

    /** Whether what looks like a lock by its name is one: a class of the program may be anything. */
    private static boolean isLock(Object object) {
        return object instanceof Lock || object.getClass().getClassLoader() == null;
    }

    /** The number of a lock; a read lock that is known as a lock only is still a read lock. */
    private static long lockOf(ScissionThread s, Object lock) {
        long id = id(s, lock);
        boolean isShared = lock instanceof ReentrantReadWriteLock.ReadLock
            || lock.getClass().getName().equals("java.util.concurrent.locks.StampedLock$ReadLockView");
        return isShared ? ~id : id;
    }

    private static void publish(ScissionThread s, int kind, Object object, int site) {
        emit(s, kind, site, id(s, object), 0);
        bump(s);
    }

    private static void receive(ScissionThread s, int kind, Object object, int site) {
        long id = id(s, object);
        bump(s);
        emit(s, kind, site, id, 0);
    }

    private static void submit(ScissionThread s, Object task, int site) {
        s.submitted = taskId(s, task);
        emit(s, SUBMIT, site, s.submitted, 0);
        bump(s);
    }

    /**
     * What a synchronized library method did, reported as a whole after it. The lock is taken once more for that:
     * otherwise two threads that report at the same time would seem to hold it together.
     */
    private static void insideMonitor(ScissionThread s, int kind, Object object, int site) {
        long id = lockId(s, object);
        boolean outermost = findHeld(s, id) < 0;
        synchronized (object) {
            bump(s);
            if (outermost) {
                emit(s, ACQUIRE, site, id, 0);
                bump(s);
            }
            if (kind != 0) {
                emit(s, kind, site, id, OF_CONTENTS);
            }
            if (outermost) {
                emit(s, RELEASE, site, id, 0);
            }
            bump(s);
        }
    }

    private static void fork(ScissionThread s, Thread child, int site) {
        ScissionThread c = child.$scission;
        if (c == null) {
            c = attach(child);
            emit(s, FORK, site, c.number, 0);
            bump(s);
            emit(c, THREAD_BEGIN, 0, 0, 0);
        }
    }

    private static void join(ScissionThread s, Thread child, int site) {
        ScissionThread c = child.$scission;
        if (c != null && c != s && !child.isAlive()) {
            bump(s);
            emit(s, JOIN, site, c.number, 0);
        }
    }

    /** After a call: does {@link #call} if the result is true. */
    public static void callIf(int outcome, Object operand, int op, int site) {
        if (outcome != 0) {
            call(operand, op, site);
        }
    }

    /** After a call: does {@link #call} if the result is false. */
    public static void callIfNot(int outcome, Object operand, int op, int site) {
        if (outcome == 0) {
            call(operand, op, site);
        }
    }

    /** After a call: does {@link #call} if the result is something. */
    public static void callIfSome(Object outcome, Object operand, int op, int site) {
        if (outcome != null) {
            call(operand, op, site);
        }
    }

    /** After a call: the first object is another face of the second. */
    public static void alias(Object face, Object of, int site) {
        if (face != null && of != null && face != of) {
            ScissionThread s = current();
            ScissionObjects.Entry known = ScissionObjects.find(face);
            if (known == null && SHAPES.get(face.getClass()).idOffset == 0) {
                ScissionObjects.add(face, taskId(s, of));
            }
        }
    }

    // ------------------------------------------------------------------ the adversary

    /** An object is about to be accessed, or its monitor entered. */
    public static void approach(Object object, int site) {
        if (ScissionAdversary.isSuspect(site) && object != null) {
            long entry = entry(site);
            ScissionAdversary.hold(current(), object, entry > 0 ? entry >>> 32 : 0, site);
        }
    }

    /** A static field is about to be accessed. */
    public static void approachStatic(int site) {
        if (ScissionAdversary.isSuspect(site)) {
            long entry = entry(site);
            ScissionAdversary.hold(current(), null, entry > 0 ? entry + 8 : 0, site);
        }
    }

    /** A method is about to be called. */
    public static void approachCall(int site) {
        ScissionThread s = current();
        s.lastCall = site;
        if (ScissionAdversary.isSuspect(site)) {
            ScissionAdversary.hold(s, null, 0, site);
        }
    }

    // ------------------------------------------------------------------ branches

    /** An int is about to decide a branch. */
    public static void branch(int value, int opcode, int site) {
        boolean taken;
        switch (opcode) {
            case 0x99: taken = value == 0; break;
            case 0x9a: taken = value != 0; break;
            case 0x9b: taken = value < 0; break;
            case 0x9c: taken = value >= 0; break;
            case 0x9d: taken = value > 0; break;
            case 0x9e: taken = value <= 0; break;
            default:
                emit(current(), BRANCH, site, 2, value);
                return;
        }
        emit(current(), BRANCH, site, taken ? 1 : 0, 0);
    }

    /** A reference is about to decide a branch. */
    public static void branch(Object value, int opcode, int site) {
        emit(current(), BRANCH, site, (value == null) == (opcode == 0xc6) ? 1 : 0, 0);
    }

    /** Two ints are about to decide a branch. */
    public static void branch(int left, int right, int opcode, int site) {
        boolean taken;
        switch (opcode) {
            case 0x9f: taken = left == right; break;
            case 0xa0: taken = left != right; break;
            case 0xa1: taken = left < right; break;
            case 0xa2: taken = left >= right; break;
            case 0xa3: taken = left > right; break;
            default: taken = left <= right; break;
        }
        emit(current(), BRANCH, site, taken ? 1 : 0, 0);
    }

    /** Two references are about to decide a branch. */
    public static void branch(Object left, Object right, int opcode, int site) {
        emit(current(), BRANCH, site, (left == right) == (opcode == 0xa5) ? 1 : 0, 0);
    }
}
