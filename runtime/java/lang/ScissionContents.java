package java.lang;

import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionSites.UNRESOLVED;
import static java.lang.ScissionSites.entry;

import java.lang.reflect.Field;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.Stable;

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

    /** An offset that there is none of. Not zero: compilers take no zero of a stable field for a constant. */
    private static final long NOWHERE = -1;

    private static final Layout NONE = new Layout(null, false, NOWHERE, NOWHERE, NOWHERE, null);

    /** How many low bits of a site choose within one part of the table of layouts. */
    private static final int PART_BITS = 12;

    /**
     * The layout of the first object that came to each site: most see objects of one class only, whose layout is then a
     * constant of the compiled code. Once set an entry never changes; objects of other classes are looked up.
     */
    @Stable private static final Layout[][] FIRST_AT_SITES = new Layout[SITES >>> PART_BITS][];

    /** Java 11 calls {@code getReference} otherwise, and is asked by reflection. */
    static final boolean HAS_GET_REFERENCE = hasGetReference();

    /**
     * Where the objects of a class have their words, or the collection that they are views of. All of it is final, so that it
     * may be handed to other threads in any way.
     */
    static final class Layout {
        @Stable final Class<?> type;
        /** Whether they order the calls to them. Two numbers that are not zero, so that both are constants to compilers. */
        @Stable private final int ordering;
        @Stable final long r;
        @Stable final long w;
        @Stable private final long viewed;
        private final Field viewedField;
        /** The layout of what the last view of this class was a view of. It only saves a look-up. */
        private Layout ofViewed;

        private static final int ORDERS_NOTHING = 1;
        private static final int ORDERS_CALLS = 2;

        Layout(Class<?> type, boolean isConcurrent, long r, long w, long viewed, Field viewedField) {
            this.type = type;
            this.ordering = isConcurrent ? ORDERS_CALLS : ORDERS_NOTHING;
            this.r = r;
            this.w = w;
            this.viewed = viewed;
            this.viewedField = viewedField;
        }

        boolean isConcurrent() {
            return ordering == ORDERS_CALLS;
        }

        boolean hasWords() {
            return r != NOWHERE;
        }

        boolean isOfViews() {
            return viewed != NOWHERE;
        }

        /** What a view is a view of; null if that is not known. */
        Object viewedBy(Object view) {
            return reference(view, viewed, viewedField);
        }

        /** The layout of what a view of this class is a view of. */
        Layout ofViewed(Object viewed) {
            Layout last = ofViewed;
            return last != null && last.type == viewed.getClass() ? last : otherViewed(viewed);
        }

        @DontInline
        private Layout otherViewed(Object viewed) {
            return ofViewed = of(viewed.getClass());
        }
    }

    private ScissionContents() {}

    /** Whether an object is a collection that orders the calls to it. */
    static boolean isConcurrent(ScissionThread s, Object object, int site) {
        return layout(s, object, site).isConcurrent();
    }

    /**
     * The contents of an object, or of what it is a view of, are read, if others must order that. Says whether it is a
     * collection that orders the calls to it.
     */
    static boolean read(ScissionThread s, Object object, int site) {
        Layout layout = layout(s, object, site);
        if (layout.hasWords()) {
            if (!ScissionFilters.isQuietRead(s, object, layout.r, site & SITES - 1)) {
                noteRead(s, object, layout, site);
            }
        } else if (layout.isOfViews()) {
            readViewed(s, layout, layout.viewedBy(object), site);
        }
        return layout.isConcurrent();
    }

    /** The same for contents that are written. */
    static boolean write(ScissionThread s, Object object, int site) {
        Layout layout = layout(s, object, site);
        if (layout.hasWords()) {
            if (!ScissionFilters.isQuietWrite(s, object, layout.r, layout.w, site & SITES - 1)) {
                noteWrite(s, object, layout, site);
            }
        } else if (layout.isOfViews()) {
            writeViewed(s, layout, layout.viewedBy(object), site);
        }
        return layout.isConcurrent();
    }

    private static void readViewed(ScissionThread s, Layout view, Object viewed, int site) {
        Layout layout = view;
        Object holder = viewed;
        for (int views = 0; holder != null && views < MOST_VIEWS; views++) {
            layout = layout.ofViewed(holder);
            if (layout.hasWords() && !ScissionFilters.isQuietRead(s, holder, layout.r, site & SITES - 1)) {
                noteRead(s, holder, layout, site);
            }
            if (!layout.isOfViews()) {
                return;
            }
            holder = layout.viewedBy(holder);
        }
    }

    private static void writeViewed(ScissionThread s, Layout view, Object viewed, int site) {
        Layout layout = view;
        Object holder = viewed;
        for (int views = 0; holder != null && views < MOST_VIEWS; views++) {
            layout = layout.ofViewed(holder);
            if (layout.hasWords() && !ScissionFilters.isQuietWrite(s, holder, layout.r, layout.w, site & SITES - 1)) {
                noteWrite(s, holder, layout, site);
            }
            if (!layout.isOfViews()) {
                return;
            }
            holder = layout.viewedBy(holder);
        }
    }

    /** The layout of an object that has come to a site. */
    private static Layout layout(ScissionThread s, Object object, int site) {
        Layout[] part = FIRST_AT_SITES[(site & SITES - 1) >>> PART_BITS];
        Layout first = part == null ? null : part[site & (1 << PART_BITS) - 1];
        return first != null && first.type == object.getClass() ? first : otherLayout(s, object, site);
    }

    @DontInline
    private static Layout otherLayout(ScissionThread s, Object object, int site) {
        Layout layout = s.lastLayout;
        if (layout.type != object.getClass()) {
            s.lastLayout = layout = of(object.getClass());
        }
        setFirst(site, layout);
        return layout;
    }

    /** Whoever comes first has the entry: one that was seen by a compiler must not change. */
    private static void setFirst(int site, Layout layout) {
        int part = (site & SITES - 1) >>> PART_BITS;
        if (FIRST_AT_SITES[part] != null && FIRST_AT_SITES[part][site & (1 << PART_BITS) - 1] != null) {
            return;
        }
        synchronized (FIRST_AT_SITES) {
            Layout[] layouts = FIRST_AT_SITES[part];
            if (layouts == null) {
                FIRST_AT_SITES[part] = layouts = new Layout[1 << PART_BITS];
            }
            if (layouts[site & (1 << PART_BITS) - 1] == null) {
                layouts[site & (1 << PART_BITS) - 1] = layout;
            }
        }
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
            return shape.contents = new Layout(shape.type, false, NOWHERE, NOWHERE, NOWHERE, null);
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
        Layout layout = of(libraryClass(object.getClass()));
        if (layout.hasWords()) {
            noteRead(s, object, layout, site);
        } else if (layout.isOfViews()) {
            readViewed(s, layout, layout.viewedBy(object), site);
        }
    }

    /** The contents of an object were written by a method of the library that its class may override. */
    static void writeBySuper(ScissionThread s, Object object, int site) {
        Layout layout = of(libraryClass(object.getClass()));
        if (layout.hasWords()) {
            noteWrite(s, object, layout, site);
        } else if (layout.isOfViews()) {
            writeViewed(s, layout, layout.viewedBy(object), site);
        }
    }

    /** The first class of the library above a class, or that one itself. */
    private static Class<?> libraryClass(Class<?> type) {
        Class<?> ofLibrary = type;
        while (ofLibrary.getClassLoader() != null) {
            ofLibrary = ofLibrary.getSuperclass();
        }
        return ofLibrary;
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
            return ofSubclass(type, isConcurrent);
        }
        int facts = ScissionNatives.classFacts(type.getName());
        for (Class<?> c = type; c != null && (facts & FACT_ORDERED) == 0; c = c.getSuperclass()) {
            String viewed = ScissionNatives.wrappedField(c.getName());
            if (viewed != null && ScissionShapes.of(c).fields.containsKey(viewed)) {
                long offset = U.objectFieldOffset(c, viewed);
                return new Layout(type, isConcurrent, NOWHERE, NOWHERE, offset, viewedField(c, viewed));
            }
            if ((facts & FACT_UNORDERED) != 0 && ScissionShapes.of(c).fields.containsKey("$scission$r$$contents")) {
                long r = U.objectFieldOffset(c, "$scission$r$$contents");
                long w = U.objectFieldOffset(c, "$scission$w$$contents");
                return new Layout(type, isConcurrent, r, w, NOWHERE, null);
            }
        }
        return new Layout(type, isConcurrent, NOWHERE, NOWHERE, NOWHERE, null);
    }

    /** A class of the program is like the one of the library that it extends, unless it redefines what is an access. */
    private static Layout ofSubclass(Class<?> type, boolean isConcurrent) {
        Class<?> ofLibrary = libraryClass(type);
        Layout inherited = of(ofLibrary);
        for (Class<?> c = type; inherited != NONE && c != ofLibrary; c = c.getSuperclass()) {
            boolean isWatched = inherited.hasWords() || inherited.isOfViews();
            if (!isWatched || ScissionNatives.redefinesContents(c, ofLibrary.getName())) {
                inherited = NONE;
            }
        }
        return new Layout(
            type, isConcurrent, inherited.r, inherited.w, inherited.viewed, inherited.viewedField);
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
