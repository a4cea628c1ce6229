package java.lang;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;

/**
 * Numbers for objects that have no room for one: locks, arrays and library objects. A table of weak
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
        /** Its number, or that of the object it is another face of. */
        volatile long id;
        /** For arrays: two words an element. */
        volatile long[] words;

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
            for (Entry dead; (dead = (Entry) queue.poll()) != null; ) {
                remove(dead);
            }
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

        private void remove(Entry dead) {
            int index = dead.hash >>> 6 & buckets.length - 1;
            Entry before = null;
            for (Entry e = buckets[index]; e != null; before = e, e = e.next) {
                if (e == dead) {
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
}
