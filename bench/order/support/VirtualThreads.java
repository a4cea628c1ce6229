import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Virtual threads, for programs that are compiled for a Java which does not have them. */
final class VirtualThreads {
    private VirtualThreads() {
    }

    static Thread start(Runnable body) {
        return (Thread) call(Thread.class, "startVirtualThread", new Class<?>[] {Runnable.class}, body);
    }

    static ExecutorService executor() {
        return (ExecutorService) call(Executors.class, "newVirtualThreadPerTaskExecutor", new Class<?>[0]);
    }

    private static Object call(Class<?> owner, String name, Class<?>[] types, Object... values) {
        try {
            return owner.getMethod(name, types).invoke(null, values);
        } catch (NoSuchMethodException missing) {
            throw new UnsupportedOperationException("needs Java 21");
        } catch (IllegalAccessException | InvocationTargetException failure) {
            throw new UnsupportedOperationException("virtual threads do not work here", failure);
        }
    }
}
