package java.lang;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * Stands in for the map of fields that reflection does not show, so that the fields the agent adds stay
 * unseen. Everything else is as the original map says.
 */
final class ScissionFieldFilter extends AbstractMap<Class<?>, Object> {
    private final Map<?, ?> original;
    /** Whether the JDK keeps arrays of names instead of sets (11 does). */
    private final boolean arrays;

    /** Classes of the JDK that add to the map when they are initialised, by copying it. */
    private static final String[] ADDERS = {
        "jdk.internal.reflect.ConstantPool", "jdk.internal.reflect.UnsafeStaticFieldAccessorImpl",
    };

    /** Called before the map is replaced: whoever adds to it must do so before. */
    static void letOthersAdd() {
        for (String name : ADDERS) {
            try {
                Class.forName(name);
            } catch (ClassNotFoundException absent) {
                // Not every JDK has them all.
            }
        }
    }

    ScissionFieldFilter(Map<?, ?> original) {
        this.original = original;
        boolean arrays = false;
        if (original != null) {
            for (Object names : original.values()) {
                arrays |= names instanceof String[];
            }
        }
        this.arrays = arrays;
    }

    @Override
    public Object get(Object type) {
        Object hidden = original == null ? null : original.get(type);
        if (type != Thread.class && ((Class<?>) type).getClassLoader() == null && !hasWords((Class<?>) type)) {
            return hidden;
        }
        if (arrays) {
            return names((Class<?>) type, (String[]) hidden);
        }
        return hidden == null ? HIDDEN : hidden;
    }

    /** Whether a class of the library may have words for the contents of its objects. */
    private static boolean hasWords(Class<?> type) {
        return (ScissionNatives.classFacts(type.getName()) & ScissionProtocol.FACT_UNORDERED) != 0;
    }

    @Override
    public boolean containsKey(Object type) {
        return true;
    }

    @Override
    @SuppressWarnings("unchecked")
    public Set<Entry<Class<?>, Object>> entrySet() {
        return original == null
            ? Collections.emptySet()
            : ((Map<Class<?>, Object>) (Map<?, ?>) original).entrySet();
    }

    private static String[] names(Class<?> type, String[] hidden) {
        java.util.ArrayList<String> added = new java.util.ArrayList<>();
        String declared = ScissionNatives.declaredFields(type);
        for (String word : declared == null ? new String[0] : declared.split(" ")) {
            if (word.startsWith("$scission")) {
                // Names are compared by identity there.
                added.add(word.intern());
            }
        }
        if (added.isEmpty()) {
            return hidden;
        }
        String[] names = added.toArray(new String[0]);
        if (hidden == null) {
            return names;
        }
        String[] all = java.util.Arrays.copyOf(hidden, hidden.length + names.length);
        System.arraycopy(names, 0, all, hidden.length, names.length);
        return all;
    }

    /** All names that the agent gives. */
    private static final Set<String> HIDDEN = new AbstractSet<String>() {
        @Override
        public boolean contains(Object name) {
            return name instanceof String && ((String) name).startsWith("$scission");
        }

        @Override
        public Iterator<String> iterator() {
            return Collections.emptyIterator();
        }

        @Override
        public int size() {
            return 1;
        }
    };
}
