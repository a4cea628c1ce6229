package java.lang;

import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionTrees.*;

import java.util.ArrayList;

/**
 * Which method a call on a side would execute that is not taken: the one that the JVM would choose, as far as trees tell.
 * Where a class in between was never rewritten, so that nobody knows whether it has a method of its own, the call is not
 * followed.
 */
final class ScissionMethods {
    private ScissionMethods() {}

    /** The class or interface whose method is executed; null if that is not known. */
    static Class<?> declaring(int kind, int method, Class<?> receiver, Class<?> from) {
        String owner = ScissionNatives.classInTree(method);
        if (kind == CALL_STATIC) {
            return inClasses(ScissionPlaces.loaded(from, owner), method, true);
        }
        Class<?> named = ScissionPlaces.above(receiver, owner);
        if (kind == CALL_SPECIAL) {
            Class<?> start = named != null ? named : interfaceOf(receiver, owner);
            Class<?> found = inClasses(start, method, true);
            return found != null || start == null ? found : inInterfaces(start, method, owner);
        }
        if (named != null && isPrivate(ScissionSides.method(named, method))) {
            return named;
        }
        Class<?> found = inClasses(receiver, method, false);
        return found != null ? found : inInterfaces(receiver, method, owner);
    }

    /** The nearest class that has the method; null if none has, or nobody knows. */
    private static Class<?> inClasses(Class<?> start, int method, boolean isExact) {
        for (Class<?> type = start; type != null && type != Object.class; type = type.getSuperclass()) {
            int[] words = ScissionSides.method(type, method);
            if (words == ScissionSides.NOT_SEEN) {
                return null;
            }
            if (words.length > 0 && (isExact || !isPrivate(words) && !isStatic(words))) {
                return type;
            }
        }
        return null;
    }

    /** The interface whose method is executed because no class has one of its own: there is one below all others that have it. */
    private static Class<?> inInterfaces(Class<?> receiver, int method, String owner) {
        ArrayList<Class<?>> interfaces = new ArrayList<>();
        for (Class<?> type = receiver; type != null && type != Object.class; type = type.getSuperclass()) {
            if (ScissionSides.method(type, method) == ScissionSides.NOT_SEEN) {
                return null;
            }
            addInterfaces(type, interfaces);
        }
        Class<?> found = null;
        for (Class<?> type : interfaces) {
            int[] words = ScissionSides.method(type, method);
            if (isPrivate(words) && type.getName().equals(owner)) {
                return type;
            }
            boolean isCandidate = words.length > 0 && !isPrivate(words) && !isStatic(words);
            if (isCandidate && (found == null || found.isAssignableFrom(type))) {
                found = type;
            }
        }
        for (Class<?> type : interfaces) {
            int[] words = ScissionSides.method(type, method);
            boolean mayHaveIt = words == ScissionSides.NOT_SEEN ? found != null && found.isAssignableFrom(type)
                : words.length > 0 && !isPrivate(words) && !isStatic(words);
            if (mayHaveIt && !type.isAssignableFrom(found)) {
                return null;
            }
        }
        return found;
    }

    private static void addInterfaces(Class<?> type, ArrayList<Class<?>> interfaces) {
        if (type.isInterface() && !interfaces.contains(type)) {
            interfaces.add(type);
        }
        for (Class<?> above : type.getInterfaces()) {
            if (!interfaces.contains(above)) {
                addInterfaces(above, interfaces);
            }
        }
    }

    private static Class<?> interfaceOf(Class<?> receiver, String name) {
        ArrayList<Class<?>> interfaces = new ArrayList<>();
        for (Class<?> type = receiver; type != null; type = type.getSuperclass()) {
            addInterfaces(type, interfaces);
        }
        for (Class<?> type : interfaces) {
            if (type.getName().equals(name)) {
                return type;
            }
        }
        return null;
    }

    private static boolean isPrivate(int[] words) {
        return words.length > 2 && (words[2] & METHOD_IS_PRIVATE) != 0;
    }

    private static boolean isStatic(int[] words) {
        return words.length > 2 && (words[2] & METHOD_IS_STATIC) != 0;
    }
}
