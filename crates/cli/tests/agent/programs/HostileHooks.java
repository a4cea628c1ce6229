package torture;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;

/**
 * Calls every hook with operands that no compiler makes. The argument is the table of hooks: `name:Kind,Kind;...`.
 * Nothing may be thrown, and no method of the objects may be called.
 */
public class HostileHooks {
    static final int THREADS = 4;
    static final int SITES = 1 << 24;

    static volatile String called;

    /** An object whose every method says that it was called. */
    static class Evil implements Runnable, Comparable<Evil> {
        int field;

        static RuntimeException call(String method) {
            called = method;
            throw new IllegalStateException(method + " was called");
        }

        @Override public int hashCode() { throw call("hashCode"); }
        @Override public boolean equals(Object other) { throw call("equals"); }
        @Override public String toString() { throw call("toString"); }
        @Override public void run() { throw call("run"); }
        @Override public int compareTo(Evil other) { throw call("compareTo"); }
    }

    static class EvilCollection extends AbstractCollection<Object> {
        @Override public Iterator<Object> iterator() { throw Evil.call("iterator"); }
        @Override public int size() { throw Evil.call("size"); }
        @Override public Object[] toArray() { throw Evil.call("toArray"); }
        @Override public <T> T[] toArray(T[] array) { throw Evil.call("toArray"); }
    }

    static class EvilList extends ArrayList<Object> {
        private static final long serialVersionUID = 1;

        @Override public Object[] toArray() { throw Evil.call("toArray"); }
        @Override public Iterator<Object> iterator() { throw Evil.call("iterator"); }
        @Override public int hashCode() { throw Evil.call("hashCode"); }
    }

    static class EvilLock implements Lock {
        @Override public void lock() { throw Evil.call("lock"); }
        @Override public void lockInterruptibly() { throw Evil.call("lockInterruptibly"); }
        @Override public boolean tryLock() { throw Evil.call("tryLock"); }
        @Override public boolean tryLock(long time, TimeUnit unit) { throw Evil.call("tryLock"); }
        @Override public void unlock() { throw Evil.call("unlock"); }
        @Override public Condition newCondition() { throw Evil.call("newCondition"); }
        @Override public int hashCode() { throw Evil.call("hashCode"); }
    }

    static class EvilThread extends Thread {
        @Override public long getId() { throw Evil.call("getId"); }
        @Override public State getState() { throw Evil.call("getState"); }
        @Override public boolean isInterrupted() { throw Evil.call("isInterrupted"); }
        @Override public ClassLoader getContextClassLoader() { throw Evil.call("getContextClassLoader"); }
        @Override public String toString() { throw Evil.call("toString"); }
        @Override public void run() { throw Evil.call("run"); }
    }

    static List<Object> objects() {
        Object proxy = Proxy.newProxyInstance(
            HostileHooks.class.getClassLoader(), new Class<?>[] {Stream.class, Collection.class, Lock.class},
            (self, method, arguments) -> { throw Evil.call(method.getName()); });
        Runnable lambda = () -> Evil.call("lambda");
        return new ArrayList<>(Arrays.asList(
            null, new Object(), new Evil(), new EvilCollection(), new EvilList(), new EvilLock(), new EvilThread(),
            proxy, lambda, Collections.unmodifiableCollection(new EvilCollection()),
            Collections.unmodifiableList(new EvilList()), Collections.synchronizedCollection(new EvilCollection()),
            new ArrayList<>(Arrays.asList(new Evil(), null)), Arrays.asList(new Evil(), null),
            Collections.unmodifiableList(new ArrayList<>(Arrays.asList(new Evil(), new EvilThread()))),
            new int[0], new int[3], new Object[] {new Evil(), null}, new long[2][3], new byte[2_000_000],
            "text", Evil.class, new ReentrantLock(), new ReentrantReadWriteLock().readLock(),
            new java.util.concurrent.locks.StampedLock().asReadLock(), Thread.currentThread(),
            Arrays.asList(1, 2).parallelStream(), new Throwable()));
    }

    // What follows gives the program sites of every kind.

    static int plainStatic;
    static volatile int volatileStatic;
    static final List<Object> FINAL = new ArrayList<>();
    int plain;
    volatile int fast;

    synchronized int work(int depth) {
        int[] array = {1, 2, 3};
        synchronized (FINAL) {
            plain += array[depth & 1];
            fast++;
            plainStatic += plain;
            volatileStatic++;
            FINAL.add(depth);
            array[1] = FINAL.size();
        }
        Runnable task = () -> plain++;
        task.run();
        return plain > 3 ? plain : array[1];
    }

    synchronized int recurse(int depth) {
        plain++;
        synchronized (FINAL) {
            volatileStatic++;
            return recurse(depth + 1) + 1;
        }
    }

    /** The class of the field that a site refers to: null for other sites, and for static fields. */
    static String[] ownersOfSites() throws Exception {
        Method target = Class.forName("java.lang.ScissionNatives").getDeclaredMethod("target", int.class);
        target.setAccessible(true);
        List<String> owners = new ArrayList<>();
        owners.add(null);
        for (int site = 1; site < 2_000; site++) {
            String[] words = ((String) target.invoke(null, site)).split(" ");
            owners.add(words.length == 4 && words[3].equals("field") ? words[0].replace('/', '.') : null);
        }
        return owners.toArray(new String[0]);
    }

    static boolean isFieldOf(Object object, String owner) {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals(owner)) {
                return true;
            }
        }
        return false;
    }

    static long calls;

    static void callAll(String[] table, String[] owners, int part) throws Exception {
        List<Object> objects = objects();
        Class<?>[] classes = {null, Evil.class, int.class, int[].class, Runnable.class, HostileHooks.class};
        List<Integer> sites = new ArrayList<>(
            Arrays.asList(0, -1, SITES - 1, SITES, SITES + 5, Integer.MAX_VALUE, Integer.MIN_VALUE));
        for (int site = 1 + part; site < owners.length; site += 7) {
            sites.add(site);
        }
        int[] values = {0, 1, -1, 2, 5_000, Integer.MAX_VALUE, Integer.MIN_VALUE};
        for (String row : table) {
            String name = row.substring(0, row.indexOf(':'));
            String list = row.substring(row.indexOf(':') + 1);
            String[] kinds = list.isEmpty() ? new String[0] : list.split(",");
            Method hook = find(name, kinds);
            int rounds = 600;
            for (int round = 0; round < rounds; round++) {
                int seed = (round * 7919 + part * 104_729 + name.hashCode()) & 0x7fffffff;
                Object[] operands = new Object[kinds.length];
                for (int i = 0; i < kinds.length; i++) {
                    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
                    int choice = seed >>> 8;
                    switch (kinds[i]) {
                        case "Object":
                        case "UnlessNull":
                        case "IfNull":
                            operands[i] = objects.get(choice % objects.size());
                            break;
                        case "Class":
                            operands[i] = classes[choice % classes.length];
                            break;
                        case "Site":
                            operands[i] = sites.get(choice % sites.size());
                            break;
                        case "Operation":
                            operands[i] = choice % 48 - 2;
                            break;
                        case "Ticket":
                            operands[i] = (long) choice << choice % 40;
                            break;
                        default:
                            operands[i] = values[choice % values.length];
                            break;
                    }
                }
                // The object of an access is one that has the field of the site.
                int site = kinds.length > 0 && kinds[kinds.length - 1].equals("Site") ? (int) operands[kinds.length - 1] : 0;
                String owner = site > 0 && site < owners.length ? owners[site] : null;
                if (owner != null && kinds[0].equals("Object") && operands[0] != null && !isFieldOf(operands[0], owner)) {
                    operands[0] = null;
                }
                try {
                    hook.invoke(null, operands);
                } catch (InvocationTargetException thrown) {
                    System.out.println(row + " threw " + thrown.getCause().getClass());
                    System.exit(1);
                }
            }
            synchronized (HostileHooks.class) {
                calls += rounds;
            }
        }
    }

    static Method find(String name, String[] kinds) throws Exception {
        Class<?>[] types = new Class<?>[kinds.length];
        for (int i = 0; i < kinds.length; i++) {
            boolean isObject = kinds[i].equals("Object") || kinds[i].endsWith("Null");
            boolean isTicket = kinds[i].equals("Ticket");
            types[i] = isObject ? Object.class : kinds[i].equals("Class") ? Class.class : isTicket ? long.class : int.class;
        }
        return Class.forName("java.lang.Scission").getMethod(name, types);
    }

    public static void main(String[] arguments) throws Exception {
        String[] table = arguments[0].split(";");
        int declared = 0;
        for (Method method : Class.forName("java.lang.Scission").getMethods()) {
            declared += Modifier.isStatic(method.getModifiers()) ? 1 : 0;
        }
        HostileHooks worker = new HostileHooks();
        for (int i = 0; i < 100; i++) {
            worker.work(i);
        }
        String[] owners = ownersOfSites();
        callAll(table, owners, 0);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < threads.length; i++) {
            int part = i + 1;
            threads[i] = new Thread(() -> {
                try {
                    callAll(table, owners, part);
                    for (int round = 0; round < 5; round++) {
                        try {
                            new HostileHooks().recurse(0);
                        } catch (StackOverflowError expected) {
                            // The hooks inside were cut short as well.
                        }
                    }
                    new HostileHooks().work(1);
                } catch (Throwable problem) {
                    System.out.println("a thread ended with " + problem.getClass());
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        worker.work(3);
        System.out.println(declared + " hooks, " + calls + " calls, called: " + called);
    }
}
