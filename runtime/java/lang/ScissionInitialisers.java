package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Finds out which threads wait for the initialisation of a class, and who makes it. The JVM calls such threads running, and does not say
 * what they wait for.
 *
 * <p>A thread whose innermost instruction needs a class that another thread initialises stays there until that one has done so. This is
 * read from the code: the instruction names the class, and the initialiser of it, or of a superclass, is among the calls of the other
 * thread. A superclass is initialised before the initialiser of its subclass is called: a thread that needs the subclass
 * while another one initialises the superclass has begun to initialise the subclass if that other one cannot.
 */
final class ScissionInitialisers {
    private static final Unsafe U = Unsafe.getUnsafe();

    private ScissionInitialisers() {}

    /** The class that a thread needs and that is not initialised; null if there is none, or it is not loaded. */
    static Class<?> awaited(Thread thread) {
        String name = ScissionNatives.awaitedClass(thread);
        Class<?> from = name == null ? null : ScissionNatives.innermostClass(thread);
        if (from == null || name.startsWith("[")) {
            return null;
        }
        ClassLoader loader = from.getClassLoader();
        Class<?> awaited = null;
        try {
            awaited = loader == null ? Class.forName(name, false, null) : loader.findLoadedClass(name);
        } catch (ClassNotFoundException | LinkageError unknown) {
            return null;
        }
        return awaited != null && U.shouldBeInitialized(awaited) ? awaited : null;
    }

    /** Which of these threads makes the initialisation that a thread waits for; null if none does. */
    static ScissionThread initialising(ScissionThread s, ScissionThread[] all, int count) {
        Class<?> awaited = (Class<?>) s.stuck.wanted;
        for (Class<?> type = awaited; type != null; type = type.getSuperclass()) {
            for (int i = 0; i < count; i++) {
                if (all[i] != s && initialises(all[i], type)) {
                    return all[i];
                }
            }
        }
        for (int i = 0; i < count; i++) {
            ScissionThread other = all[i];
            if (other != s && other.stuck.isForClass && other.stuck.wanted == awaited) {
                for (Class<?> type = awaited.getSuperclass(); type != null; type = type.getSuperclass()) {
                    if (initialises(s, type)) {
                        return other;
                    }
                }
            }
        }
        return null;
    }

    private static boolean initialises(ScissionThread s, Class<?> type) {
        if (s.stuck.calls == null) {
            Thread thread = s.thread.get();
            String calls = thread == null ? null : ScissionNatives.calls(thread);
            s.stuck.calls = calls == null ? "" : " " + calls.replace('+', ' ') + " ";
        }
        return s.stuck.calls.contains(" " + type.getName() + ".<clinit> ");
    }
}
