package java.lang;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import jdk.internal.misc.Unsafe;

/** Where the fields are that the trees of sides name, and what is in them. */
final class ScissionPlaces {
    private static final Unsafe U = Unsafe.getUnsafe();

    private ScissionPlaces() {}

    /** Where a field is that a site of a tree names. */
    static final class Place {
        final Class<?> declaring;
        /** Its entry in the table of sites, and whether accesses to it are reported. */
        final long entry;
        final boolean isWatched;
        /** Where its value is, -1 if that is not known. */
        final long offset;
        final Object base;
        private final Field reflected;

        Place(Class<?> declaring, long entry, long offset, Object base, Field reflected) {
            this.declaring = declaring;
            this.entry = entry;
            isWatched = entry > 0 || ScissionSites.isVolatileField(entry) || ScissionSites.isVolatileStatic(entry);
            this.offset = offset;
            this.base = base;
            this.reflected = reflected;
        }

        /** The reference that it holds. */
        Object value(Object owner) {
            return ScissionContents.reference(owner, offset, reflected);
        }
    }

    /** The number in a final field; {@link ScissionWalk#UNKNOWN} if that cannot be read. */
    static Object number(Place place, String name, char type, boolean isStatic, Object owner) {
        try {
            Field field = place.declaring.getDeclaredField(name);
            Object base = isStatic ? U.staticFieldBase(field) : owner;
            long offset = isStatic ? U.staticFieldOffset(field) : U.objectFieldOffset(field);
            switch (type) {
                case 'I': return new ScissionWalk.Int(U.getInt(base, offset), true);
                case 'Z': return new ScissionWalk.Int(U.getBoolean(base, offset) ? 1 : 0, true);
                case 'B': return new ScissionWalk.Int(U.getByte(base, offset), true);
                case 'C': return new ScissionWalk.Int(U.getChar(base, offset), true);
                case 'S': return new ScissionWalk.Int(U.getShort(base, offset), true);
                default: return ScissionWalk.UNKNOWN;
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError unknown) {
            return ScissionWalk.UNKNOWN;
        }
    }

    /** Whether the field that a site reads is final. */
    static boolean isFinal(int site, Class<?> from) {
        String[] target = ScissionNatives.target(site).split(" ");
        Class<?> owner = target.length < 4 ? null : loaded(from, target[0].replace('/', '.'));
        Class<?> declaring =
            owner == null ? null : ScissionSites.declaringClass(owner, target[1], target[3].equals("static"));
        try {
            return declaring != null && Modifier.isFinal(declaring.getDeclaredField(target[1]).getModifiers());
        } catch (ReflectiveOperationException | RuntimeException | LinkageError unknown) {
            return false;
        }
    }

    private static final HashMap<Integer, Place> PLACES = new HashMap<>();

    /** The field of a site, for objects of a class; null if the objects do not have it. */
    static synchronized Place place(int site, Class<?> from, boolean isStatic) {
        Place known = PLACES.get(site);
        if (known == null) {
            known = find(site, from, isStatic);
            if (known == null) {
                return null;
            }
            PLACES.put(site, known);
        }
        return isStatic || known.declaring.isAssignableFrom(from) ? known : null;
    }

    private static Place find(int site, Class<?> from, boolean isStatic) {
        String[] target = ScissionNatives.target(site).split(" ");
        if (target.length < 4 || target[3].equals("static") != isStatic) {
            return null;
        }
        String owner = target[0].replace('/', '.');
        String name = target[1];
        Class<?> start = isStatic ? loaded(from, owner) : above(from, owner);
        Class<?> declaring = start == null ? null : ScissionSites.declaringClass(start, name, isStatic);
        if (declaring == null || isStatic && U.shouldBeInitialized(declaring)) {
            return null;
        }
        long entry = ScissionSites.resolve(isStatic ? start : from, site, isStatic);
        boolean isReference = target[2].startsWith("L") || target[2].startsWith("[");
        if (!isReference) {
            return new Place(declaring, entry, -1, null, null);
        }
        if (!isStatic && ScissionContents.HAS_GET_REFERENCE) {
            return new Place(declaring, entry, U.objectFieldOffset(declaring, name), null, null);
        }
        try {
            Field reflected = declaring.getDeclaredField(name);
            reflected.setAccessible(true);
            long offset = isStatic ? U.staticFieldOffset(reflected) : U.objectFieldOffset(reflected);
            Object base = isStatic ? U.staticFieldBase(reflected) : null;
            return new Place(declaring, entry, offset, base, reflected);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError unknown) {
            return new Place(declaring, entry, -1, null, null);
        }
    }

    /** A class or one above it that has this name. */
    static Class<?> above(Class<?> from, String name) {
        Class<?> type = from;
        while (type != null && !type.getName().equals(name)) {
            type = type.getSuperclass();
        }
        return type;
    }

    /** The class of this name that code of another class has used before; nothing is loaded. */
    static Class<?> loaded(Class<?> from, String name) {
        if (from == null) {
            return null;
        }
        Class<?> type = above(from, name);
        ClassLoader loader = from.getClassLoader0();
        return type != null || loader == null ? type : loader.findLoadedClass(name);
    }
}
