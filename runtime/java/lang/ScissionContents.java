package java.lang;

import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionSites.UNRESOLVED;
import static java.lang.ScissionSites.entry;

import java.lang.reflect.Field;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * What is in collections, builders, formats and other library objects that leave it to others to order the calls to
 * them: one variable each, with words like those of a field, in fields that the agent adds to their classes. An object that
 * one thread uses alone costs a comparison for each call, and no event.
 *
 * <p>Views, iterators, and sets that keep their elements in a map have no words of their own: the models say in which
 * field they have the collection they are views of.
 *
 * <p>Whether a call is an access depends on the class of the object, and on nothing that the code calls it: of a class of
 * the library that says so, and of a class of the program that extends one and overrides none of its methods. What
 * a class of the program overrides is watched where it calls the method of the library.
 */
final class ScissionContents {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** How many views are looked through. */
    private static final int MOST_VIEWS = 8;

    private static final Layout NONE = new Layout(null, false, 0, 0, 0, null);

    /** Java 11 calls {@code getReference} otherwise, and is asked by reflection. */
    static final boolean HAS_GET_REFERENCE = hasGetReference();

    /** Where the objects of a class have their words, or the collection that they are views of. */
    static final class Layout {
        final Class<?> type;
        /** Whether they order the calls to them. */
        final boolean isConcurrent;
        final long r;
        final long w;
        final long viewed;
        private final Field viewedField;

        Layout(Class<?> type, boolean isConcurrent, long r, long w, long viewed, Field viewedField) {
            this.type = type;
            this.isConcurrent = isConcurrent;
            this.r = r;
            this.w = w;
            this.viewed = viewed;
            this.viewedField = viewedField;
        }

        /** What a view is a view of; null if that is not known. */
        Object viewedBy(Object view) {
            return reference(view, viewed, viewedField);
        }
    }

    private ScissionContents() {}

    /** Whether an object is a collection that orders the calls to it. */
    static boolean isConcurrent(ScissionThread s, Object object) {
        Layout layout = s.lastLayout;
        if (layout.type != object.getClass()) {
            layout = otherLayout(s, object);
        }
        return layout.isConcurrent;
    }

    /**
     * The contents of an object, or of what it is a view of, are read, if others must order that. Says whether it is a
     * collection that orders the calls to it.
     */
    static boolean read(ScissionThread s, Object object, int site) {
        Layout layout = s.lastLayout;
        if (layout.type != object.getClass()) {
            layout = otherLayout(s, object);
        }
        if (layout.r != 0) {
            if (!ScissionFilters.isQuietRead(s, object, layout.r, site & SITES - 1)) {
                noteRead(s, object, layout, site);
            }
        } else if (layout.viewed != 0) {
            readViewed(s, layout.viewedBy(object), site);
        }
        return layout.isConcurrent;
    }

    /** The same for contents that are written. */
    static boolean write(ScissionThread s, Object object, int site) {
        Layout layout = s.lastLayout;
        if (layout.type != object.getClass()) {
            layout = otherLayout(s, object);
        }
        if (layout.r != 0) {
            if (!ScissionFilters.isQuietWrite(s, object, layout.r, layout.w, site & SITES - 1)) {
                noteWrite(s, object, layout, site);
            }
        } else if (layout.viewed != 0) {
            writeViewed(s, layout.viewedBy(object), site);
        }
        return layout.isConcurrent;
    }

    private static void readViewed(ScissionThread s, Object viewed, int site) {
        Object holder = holder(s, viewed);
        if (holder != null) {
            Layout layout = s.lastViewed;
            if (layout.r != 0 && !ScissionFilters.isQuietRead(s, holder, layout.r, site & SITES - 1)) {
                noteRead(s, holder, layout, site);
            }
        }
    }

    private static void writeViewed(ScissionThread s, Object viewed, int site) {
        Object holder = holder(s, viewed);
        if (holder != null) {
            Layout layout = s.lastViewed;
            if (layout.r != 0 && !ScissionFilters.isQuietWrite(s, holder, layout.r, layout.w, site & SITES - 1)) {
                noteWrite(s, holder, layout, site);
            }
        }
    }

    /** The collection at the end of views of views, whose layout is then the last one viewed; null if there is none. */
    private static Object holder(ScissionThread s, Object viewed) {
        Object holder = viewed;
        for (int views = 0; holder != null && views < MOST_VIEWS; views++) {
            Layout layout = s.lastViewed;
            if (layout.type != holder.getClass()) {
                s.lastViewed = layout = of(holder.getClass());
            }
            if (layout.viewed == 0) {
                return holder;
            }
            holder = layout.viewedBy(holder);
        }
        return null;
    }

    @DontInline
    private static Layout otherLayout(ScissionThread s, Object object) {
        return s.lastLayout = of(object.getClass());
    }

    /** The layout of a class. Whoever asks for it at the same time finds the same. */
    private static Layout of(Class<?> type) {
        ScissionShapes.Shape shape = ScissionShapes.of(type);
        Layout layout = shape.contents;
        return layout != null ? layout : newLayout(shape);
    }

    /** What the library does to find it is no order of the program. */
    @DontInline
    private static Layout newLayout(ScissionShapes.Shape shape) {
        ScissionThread s = ScissionOrder.quieten();
        try {
            return shape.contents = find(shape);
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
            return shape.contents = new Layout(shape.type, false, 0, 0, 0, null);
        } finally {
            ScissionOrder.leaveMode(s);
        }
    }

    @DontInline
    private static void noteRead(ScissionThread s, Object holder, Layout layout, int at) {
        try {
            int site = at & SITES - 1;
            firstUse(s, site);
            if (!ScissionFilters.noteRead(s, holder, layout.r, layout.w, site)) {
                ScissionFilters.reportRead(
                    s, holder, layout.r, layout.w, site, ScissionObjects.id(s, holder), OF_CONTENTS);
            }
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    @DontInline
    private static void noteWrite(ScissionThread s, Object holder, Layout layout, int at) {
        try {
            int site = at & SITES - 1;
            firstUse(s, site);
            if (!ScissionFilters.noteWrite(s, holder, layout.r, layout.w, site)) {
                ScissionFilters.reportWrite(
                    s, holder, layout.r, layout.w, site, ScissionObjects.id(s, holder), OF_CONTENTS);
            }
        } catch (RuntimeException | LinkageError problem) {
            ScissionFailures.hooks++;
        }
    }

    /** The contents of an object were read by a method of the library that its class may override. */
    static void readBySuper(ScissionThread s, Object object, int site) {
        Layout layout = of(libraryClass(object));
        if (layout.r != 0) {
            noteRead(s, object, layout, site);
        } else if (layout.viewed != 0) {
            readViewed(s, layout.viewedBy(object), site);
        }
    }

    /** The contents of an object were written by a method of the library that its class may override. */
    static void writeBySuper(ScissionThread s, Object object, int site) {
        Layout layout = of(libraryClass(object));
        if (layout.r != 0) {
            noteWrite(s, object, layout, site);
        } else if (layout.viewed != 0) {
            writeViewed(s, layout.viewedBy(object), site);
        }
    }

    /** The first class of the library above that of an object, or that one itself. */
    private static Class<?> libraryClass(Object object) {
        Class<?> type = object.getClass();
        while (type.getClassLoader() != null) {
            type = type.getSuperclass();
        }
        return type;
    }

    /** The stack of the first access is the only one of a site whose accesses are all reported late. */
    private static void firstUse(ScissionThread s, int site) {
        if (ScissionConfiguration.EMITS && entry(site) == UNRESOLVED) {
            ScissionArrays.firstUse(s, site);
        }
    }

    /** What a thread has looked at last that has looked at nothing. */
    static Layout none() {
        return NONE;
    }

    private static Layout find(ScissionShapes.Shape shape) {
        Class<?> type = shape.type;
        boolean isConcurrent = shape.has(FACT_CONCURRENT);
        if (type.getClassLoader() != null) {
            return new Layout(type, isConcurrent, 0, 0, 0, null);
        }
        int facts = ScissionNatives.classFacts(type.getName());
        for (Class<?> c = type; c != null && (facts & FACT_ORDERED) == 0; c = c.getSuperclass()) {
            String viewed = ScissionNatives.wrappedField(c.getName());
            if (viewed != null && ScissionShapes.of(c).fields.containsKey(viewed)) {
                long offset = U.objectFieldOffset(c, viewed);
                return new Layout(type, isConcurrent, 0, 0, offset, viewedField(c, viewed));
            }
            if ((facts & FACT_UNORDERED) != 0 && ScissionShapes.of(c).fields.containsKey("$scission$r$$contents")) {
                long r = U.objectFieldOffset(c, "$scission$r$$contents");
                long w = U.objectFieldOffset(c, "$scission$w$$contents");
                return new Layout(type, isConcurrent, r, w, 0, null);
            }
        }
        return new Layout(type, isConcurrent, 0, 0, 0, null);
    }

    private static Field viewedField(Class<?> type, String name) {
        if (HAS_GET_REFERENCE) {
            return null;
        }
        try {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** What a field of an object holds; null if that cannot be said. */
    static Object reference(Object object, long offset, Field field) {
        if (HAS_GET_REFERENCE) {
            return U.getReference(object, offset);
        }
        try {
            return field.get(object);
        } catch (IllegalAccessException impossible) {
            return null;
        }
    }

    private static boolean hasGetReference() {
        try {
            // The constant that says where elements begin is an int in some JDKs only; here there is one in all of them.
            U.getReference(new Object[8], 24);
            return true;
        } catch (NoSuchMethodError old) {
            return false;
        }
    }
}
