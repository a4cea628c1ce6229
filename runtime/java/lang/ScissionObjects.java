package java.lang;

import static java.lang.ScissionProtocol.*;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * The numbers of objects. Objects of watched classes have theirs in a field that the agent adds. For objects that
 * have no room for one, locks, arrays and library objects, there is a table of weak
 * references by identity; what nobody else holds disappears from it.
 *
 * <p>It is changed under the lock of a shard and read without. A reader that finds nothing looks again under the lock.
 * An entry that a reader finds is whole: it was linked after a fence, and the reader has come to it by the link.
 */
final class ScissionObjects {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** What is known of one object. */
    static final class Entry extends WeakReference<Object> {
        final int hash;
        Entry next;
        /** Its number, or that of the object it is a view of. */
        final long id;
        /** For arrays: the words of their elements. */
        volatile ScissionArrays.Words words;

        Entry(Object object, int hash, long id, Entry next, ReferenceQueue<Object> queue) {
            super(object, queue);
            this.hash = hash;
            this.id = id;
            this.next = next;
        }
    }

    /** One part of the table, with its own lock, so that threads rarely meet. */
    private static final class Shard {
        private final ReferenceQueue<Object> queue = new ReferenceQueue<>();
        private volatile Entry[] buckets = new Entry[64];
        private int size;

        Entry find(Object object, int hash) {
            Entry[] buckets = this.buckets;
            for (Entry e = buckets[hash >>> 6 & buckets.length - 1]; e != null; e = e.next) {
                if (e.hash == hash && e.get() == object) {
                    return e;
                }
            }
            return null;
        }

        synchronized Entry add(Object object, int hash, long id) {
            Entry found = find(object, hash);
            if (found != null) {
                return found;
            }
            forget();
            if (size > buckets.length) {
                grow();
            }
            int index = hash >>> 6 & buckets.length - 1;
            Entry added = new Entry(object, hash, id, buckets[index], queue);
            U.storeFence();
            buckets[index] = added;
            size++;
            return added;
        }

        /** Forgets the objects that are gone. */
        synchronized void forget() {
            for (Entry dead; (dead = (Entry) queue.poll()) != null; ) {
                remove(dead);
            }
        }

        private void remove(Entry dead) {
            int index = dead.hash >>> 6 & buckets.length - 1;
            Entry before = null;
            for (Entry e = buckets[index]; e != null; before = e, e = e.next) {
                if (e == dead) {
                    ScissionArrays.Words words = e.words;
                    if (words != null) {
                        words.free();
                    }
                    if (before == null) {
                        buckets[index] = e.next;
                    } else {
                        before.next = e.next;
                    }
                    size--;
                    return;
                }
            }
        }

        /**
         * Links the entries anew: a reader of the old buckets may miss an entry, and then locks. The fence keeps new
         * links from being seen before those they lead to, so that a reader never goes in a circle.
         */
        private void grow() {
            Entry[] old = buckets;
            Entry[] wider = new Entry[old.length * 4];
            for (Entry chain : old) {
                while (chain != null) {
                    Entry next = chain.next;
                    int index = chain.hash >>> 6 & wider.length - 1;
                    chain.next = wider[index];
                    U.storeFence();
                    wider[index] = chain;
                    chain = next;
                }
            }
            buckets = wider;
        }
    }

    private static final Shard[] SHARDS = new Shard[64];

    static {
        for (int i = 0; i < SHARDS.length; i++) {
            SHARDS[i] = new Shard();
        }
    }

    private ScissionObjects() {}

    /** What is known of an object, or null. */
    static Entry find(Object object) {
        int hash = System.identityHashCode(object);
        return SHARDS[hash & 63].find(object, hash);
    }

    /** What is known of an object, which gets this number if it has none yet. */
    static Entry add(Object object, long id) {
        int hash = System.identityHashCode(object);
        return SHARDS[hash & 63].add(object, hash, id);
    }

    /** Forgets all objects that are gone, and what was kept for them. */
    static void forget() {
        for (Shard shard : SHARDS) {
            shard.forget();
        }
    }

    // ------------------------------------------------------------------ numbers

    private static final long NEXT_OBJECT = ScissionNatives.configuration(WORD_NEXT_OBJECT);

    /** The number of an object; it gets one, and is reported, when it has none. */
    static long id(ScissionThread s, Object object) {
        Class<?> type = object.getClass();
        ScissionShapes.Shape shape = s.lastShape;
        if (shape == null || shape.type != type) {
            s.lastShape = shape = ScissionShapes.of(type);
        }
        if (shape.idOffset != 0) {
            long id = U.getLong(object, shape.idOffset);
            return id != 0 ? id : claim(s, object, shape);
        }
        Entry entry = find(object);
        return entry != null ? entry.id : enter(s, object, shape).id;
    }

    /** The number of an object whose class has room for it at this offset; 0 means that it may have none. */
    static long id(ScissionThread s, Object object, int offset) {
        long id = offset == 0 ? 0 : U.getLong(object, (long) offset);
        return id != 0 ? id : id(s, object);
    }

    /** The number that an object has in a field, 0 if it has none. */
    static long idIfAny(Object object) {
        long offset = ScissionShapes.of(object.getClass()).idOffset;
        return offset == 0 ? 0 : U.getLong(object, offset);
    }

    @DontInline
    private static long claim(ScissionThread s, Object object, ScissionShapes.Shape shape) {
        long id = U.getAndAddLong(null, NEXT_OBJECT, 1);
        long before = U.compareAndExchangeLong(object, shape.idOffset, 0, id);
        if (before != 0) {
            return before;
        }
        ScissionEvents.emit(s, EVENT_ESCAPE, 0, id, shape.number);
        return id;
    }

    /** Adds an object to the table, and reports it if it is new there. */
    @DontInline
    static Entry enter(ScissionThread s, Object object, ScissionShapes.Shape shape) {
        long id = U.getAndAddLong(null, NEXT_OBJECT, 1);
        ScissionOrder.enterMode(s, ORDER_QUIET);
        Entry entry;
        try {
            entry = add(object, id);
        } finally {
            ScissionOrder.leaveMode(s);
        }
        if (entry.id == id) {
            ScissionEvents.emit(s, EVENT_ESCAPE, 0, id, shape.number);
        }
        return entry;
    }
}
