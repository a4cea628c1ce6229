package java.lang;

import static java.lang.ScissionProtocol.*;

import jdk.internal.misc.Unsafe;

/**
 * The numbers of keys of concurrent collections: an entry of a collection is a variable, whose number is that of its key.
 *
 * <p>Two keys have one number only if they are certainly the same key: the same object, or equal strings or boxed values.
 * Methods of other keys are not called, since they may be code of the program; keys of such classes that are equal but
 * not the same have different numbers, and what is done to their entry may be taken for two entries.
 *
 * <p>Small numbers of the type {@code Integer} are their own numbers; other objects have theirs from
 * {@link ScissionObjects}; strings and other boxed values from a table that keeps them.
 */
final class ScissionKeys {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Nothing is known of the key: its number would be too large, or the table is full. */
    static final long UNKNOWN = -1;

    /** Where the numbers of objects begin, and where those of the table. */
    private static final long OBJECTS = 1L << 30;
    private static final long VALUES = 1L << 31;
    /** The number of the key that is null. */
    private static final long NULL = 0xffffffffL;

    /** How many keys the table holds at most, and how long a string in it may be. */
    private static final int MOST_VALUES = 1 << 18;
    private static final int LONGEST_STRING = 256;

    /** Keys by their hash, with open addressing, never more than half full. A key is stored after its number. */
    private static final class Table {
        final Object[] keys;
        final int[] numbers;

        Table(int room) {
            keys = new Object[room];
            numbers = new int[room];
        }

        /** Where a key is, or the room for it. */
        int find(Object key) {
            int hash = key.hashCode() * 0x9e3779b9;
            int at = hash >>> 1 & keys.length - 1;
            for (Object known; (known = keys[at]) != null && !known.equals(key); ) {
                at = at + 1 & keys.length - 1;
            }
            return at;
        }

        void add(Object key, int number) {
            int at = find(key);
            numbers[at] = number;
            U.storeFence();
            keys[at] = key;
        }
    }

    private static volatile Table table = new Table(1 << 10);
    private static int values;

    private ScissionKeys() {}

    /** The number of a key, or {@link #UNKNOWN}. */
    static long number(ScissionThread s, Object key) {
        if (key == null) {
            return NULL;
        }
        Class<?> type = key.getClass();
        if (type == Integer.class) {
            int value = (Integer) key;
            return value >= 0 && value < OBJECTS ? value : valueNumber(key);
        }
        if (type == String.class && ((String) key).length() <= LONGEST_STRING
            || type == Long.class || type == Short.class || type == Byte.class || type == Character.class
            || type == Boolean.class || type == Double.class || type == Float.class) {
            return valueNumber(key);
        }
        long id = ScissionObjects.id(s, key);
        return id < OBJECTS ? OBJECTS + id : UNKNOWN;
    }

    /** The number of a key by its value; its methods are those of the platform. */
    private static long valueNumber(Object key) {
        Table known = table;
        int at = known.find(key);
        if (known.keys[at] != null) {
            U.loadFence();
            return VALUES + known.numbers[at];
        }
        return add(key);
    }

    private static synchronized long add(Object key) {
        Table known = table;
        int at = known.find(key);
        if (known.keys[at] != null) {
            return VALUES + known.numbers[at];
        }
        if (values == MOST_VALUES) {
            return UNKNOWN;
        }
        if (values * 2 >= known.keys.length) {
            Table wider = new Table(known.keys.length * 4);
            for (int i = 0; i < known.keys.length; i++) {
                if (known.keys[i] != null) {
                    wider.add(known.keys[i], known.numbers[i]);
                }
            }
            table = known = wider;
        }
        known.add(key, values);
        return VALUES + values++;
    }
}
