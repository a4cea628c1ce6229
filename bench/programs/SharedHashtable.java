package programs;

/**
 * A hash table of the old kind: chains of entries, and one lock that each method acquires for itself. One thread reads a
 * table that is empty whenever it looks; the other fills and empties it in its own turns.
 */
public final class SharedHashtable {
    public static void main(String[] arguments) throws InterruptedException {
        int times = Measurement.size(arguments, 10);
        OldTable own = new OldTable(7);
        own.put("red", 1);
        own.put("green", 2);
        OldTable other = new OldTable(7);
        long[] sums = new long[1];
        Measurement measurement = Measurement.begin();
        Alternation.run(times, () -> sums[0] = Measurement.mix(sums[0], use(own, other)), () -> {
            other.put("blue", 3);
            other.put("white", 4);
            other.remove("blue");
            other.remove("white");
        });
        measurement.end(sums[0]);
    }

    private static int use(OldTable own, OldTable other) {
        own.putAll(other);
        int sum = own.sameAs(other) ? 1 : 0;
        sum = 2 * sum + own.sumOfValues();
        sum = 2 * sum + other.getOrDefault("blue", 0);
        sum = 2 * sum + (other.replace("blue", 5) ? 1 : 0);
        sum = 2 * sum + other.increment("blue", false);
        sum = 2 * sum + (own.putIfAbsent("red", 6) ? 1 : 0);
        return 2 * sum + (other.removeIfPresent("white") ? 1 : 0);
    }

    private static final class Entry {
        private final Object key;
        private int value;
        private Entry next;

        Entry(Object key, int value, Entry next) {
            this.key = key;
            this.value = value;
            this.next = next;
        }
    }

    /** Numbers by their keys. */
    static final class OldTable {
        private final Entry[] chains;
        private int count;
        private int changes;

        OldTable(int chains) {
            this.chains = new Entry[chains];
        }

        private int chainOf(Object key) {
            return (key.hashCode() & Integer.MAX_VALUE) % chains.length;
        }

        private Entry find(Object key) {
            Entry entry = chains[chainOf(key)];
            while (entry != null && !entry.key.equals(key)) {
                entry = entry.next;
            }
            return entry;
        }

        synchronized int size() {
            return count;
        }

        synchronized boolean containsKey(Object key) {
            return count > 0 && find(key) != null;
        }

        synchronized int get(Object key) {
            Entry entry = count > 0 ? find(key) : null;
            if (entry == null) {
                throw new IllegalArgumentException("there is no " + key);
            }
            return entry.value;
        }

        synchronized void put(Object key, int value) {
            Entry entry = find(key);
            if (entry != null) {
                entry.value = value;
                return;
            }
            int chain = chainOf(key);
            chains[chain] = new Entry(key, value, chains[chain]);
            count++;
            changes++;
        }

        synchronized boolean remove(Object key) {
            Entry entry = find(key);
            if (entry == null) {
                return false;
            }
            int chain = chainOf(key);
            Entry rest = entry.next;
            for (Entry before = chains[chain]; before != entry; before = before.next) {
                rest = new Entry(before.key, before.value, rest);
            }
            chains[chain] = rest;
            count--;
            changes++;
            return true;
        }

        /** Walks through the entries without the lock, and notices when there are changes. */
        Walk walk() {
            return new Walk(this);
        }

        /** The lock of this table alone is held. */
        synchronized void putAll(OldTable other) {
            if (other.size() > 0) {
                Walk walk = other.walk();
                while (walk.hasNext()) {
                    Entry entry = walk.next();
                    put(entry.key, entry.value);
                }
            }
        }

        synchronized boolean sameAs(OldTable other) {
            if (other.size() != count) {
                return false;
            }
            Walk walk = walk();
            while (walk.hasNext()) {
                Entry entry = walk.next();
                if (!other.containsKey(entry.key) || other.get(entry.key) != entry.value) {
                    return false;
                }
            }
            return true;
        }

        synchronized int sumOfValues() {
            int sum = 0;
            Walk walk = walk();
            while (walk.hasNext()) {
                sum += walk.next().value;
            }
            return sum;
        }

        int getOrDefault(Object key, int value) {
            if (containsKey(key)) {
                return get(key);
            }
            return value;
        }

        boolean replace(Object key, int value) {
            if (!containsKey(key)) {
                return false;
            }
            put(key, value);
            return true;
        }

        int increment(Object key, boolean isWanted) {
            if (isWanted) {
                put(key, getOrDefault(key, 0) + 1);
            }
            return size();
        }

        boolean putIfAbsent(Object key, int value) {
            if (containsKey(key)) {
                return false;
            }
            put(key, value);
            return true;
        }

        /** Whoever comes in between has removed it: the answer of the second call counts. */
        boolean removeIfPresent(Object key) {
            return containsKey(key) && remove(key);
        }
    }

    /** Belongs to one thread; the table may not. */
    static final class Walk {
        private final OldTable table;
        private final int changes;
        private int chain;
        private Entry entry;

        Walk(OldTable table) {
            this.table = table;
            changes = table.changes;
        }

        boolean hasNext() {
            while (entry == null && chain < table.chains.length) {
                entry = table.chains[chain++];
            }
            return entry != null;
        }

        Entry next() {
            if (table.changes != changes) {
                throw new IllegalStateException("the table has changed");
            }
            Entry found = entry;
            entry = found.next;
            return found;
        }
    }
}
