import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;

/** Every shape of code that Java 8 compiles to; prints what it computes. */
public class Torture {
    static final StringBuilder LOG = new StringBuilder();
    static int counter;
    static final int FROM_INITIALISER;
    static final Map<String, Integer> TABLE = new TreeMap<>();

    static {
        int sum = 0;
        for (int i = 0; i < 10; i++) {
            try {
                if (i % 3 == 0) throw new IllegalStateException("in clinit " + i);
                sum += i;
            } catch (IllegalStateException e) {
                sum -= 1;
            } finally {
                sum += 100;
            }
        }
        FROM_INITIALISER = sum;
        TABLE.put("one", 1);
    }

    enum Colour {
        RED { int weight(int x) { return x + 1; } },
        GREEN { int weight(int x) { return x * 2; } },
        BLUE;
        int weight(int x) { return x; }
    }

    interface Shape {
        double area();
        default String describe() { return getClass().getSimpleName() + ":" + String.format("%.3f", area()); }
        static Shape unit() { return () -> 1.0; }
    }

    static class Base {
        final String seen;
        int value;
        Base(String text, int number) { seen = text + number; value = number; }
        Base(long wide, double wider, Object last) { seen = wide + "/" + wider + "/" + last; }
        int get() { return value; }
    }

    static String guarded(String text) {
        try {
            return text.substring(2);
        } catch (StringIndexOutOfBoundsException e) {
            return "short";
        } finally {
            counter++;
        }
    }

    /** Arguments of super() that branch, allocate, switch and call. */
    static class Derived extends Base implements Shape, Serializable {
        final int[] extra;
        Derived(String text, boolean flag) {
            super(flag ? (text == null ? "null" : guarded(text)) : new StringBuilder("x").append(text).toString(),
                  flag && counter > 3 || text != null && text.length() > 2 ? 7 : new int[] {1, 2, 3}.length);
            int[] made = new int[flag ? 2 : 3];
            for (int i = 0; i < made.length; i++) made[i] = i * value;
            extra = made;
        }
        Derived(long a, double b, int... rest) {
            super(a > 0 ? a : -a, b < 0 ? -b : rest.length > 1 ? b * rest[1] : b,
                  new Object() { @Override public String toString() { return "anonymous" + a + rest.length; } });
            extra = rest;
        }
        Derived(int depth) {
            this(depth > 2 ? "deep" : depth < 0 ? null : "flat", depth % 2 == 0);
        }
        public double area() { return value * 1.5 + extra.length; }
        @Override int get() { return super.get() + extra.length; }
        class Inner {
            final int mine = value + 1;
            int outer() { return mine + Derived.this.value + Derived.super.get(); }
        }
    }

    static int loopAtZero(int n) {
        do {
            n = n * 3 % 101;
        } while (n > 5);
        return n;
    }

    static void forever(int[] box) {
        while (true) {
            if (box[0]++ > 5) return;
        }
    }

    static int synchronizedBlocks(Object a, Object b, int mode) {
        int result = 0;
        synchronized (a) {
            result++;
            synchronized (b) {
                if (mode == 0) return result;
                try {
                    synchronized (a) {
                        if (mode == 1) throw new IllegalArgumentException("mode");
                        result += 10;
                    }
                } catch (IllegalArgumentException e) {
                    result += 100;
                    if (result > 500) throw e;
                } finally {
                    synchronized (LOG) {
                        result += 1000;
                    }
                }
                for (int i = 0; i < 3; i++) {
                    synchronized (b) {
                        if (i == mode) continue;
                        if (i + 1 == mode) break;
                        result += i;
                    }
                }
            }
            if (mode == 4) throw new UnsupportedOperationException("four");
        }
        return result;
    }

    static synchronized int synchronizedStatic(int x) {
        if (x == 13) throw new ArithmeticException("thirteen");
        return x + counter % 1;
    }

    synchronized long synchronizedInstance(long x, double y) {
        return x > 0 ? x + (long) y : synchronizedInstance(-x + 1, y * 2);
    }

    static int switchOnString(String text) {
        switch (text) {
            case "alpha": return 1;
            case "beta": return 2;
            case "Aa": return 3;
            case "BB": return 4;
            default: return text.length() > 3 ? -1 : -2;
        }
    }

    static int dense(int x) {
        switch (x) {
            case 0: x += 5;
            case 1: x += 6; break;
            case 2: return 99;
            case 3: case 4: case 5: x *= 2; break;
            case 6: throw new IllegalStateException("six");
            default: x = -x;
        }
        return x;
    }

    static int sparse(int x) {
        switch (x) {
            case -100000: return 1;
            case 7: return 2;
            case 1000: return 3;
            case Integer.MAX_VALUE: return 4;
            case Integer.MIN_VALUE: return 5;
            default: return 6;
        }
    }

    static int onEnum(Colour colour) {
        switch (colour) {
            case RED: return 1;
            case BLUE: return 3;
            default: return 2;
        }
    }

    static long wide(long a, long b, double c, float d, int e) {
        long r = a * b - (a << e) + (b >>> 3) ^ (a | b & 7L);
        double q = c / d + a % (b == 0 ? 1 : b) - Math.sqrt(c);
        r += (long) q;
        r -= c > d ? 1 : c < d ? 2 : 3;
        r += Double.isNaN(q) ? 5 : (int) d;
        float f = (float) r;
        r = r > 1000 ? (long) f % 1000 : -r;
        boolean big = a > b && c >= d || !(e != 3);
        return big ? r : ~r;
    }

    static int manyLocals(int seed) {
MANY_LOCALS
        int sum = 0;
SUM_LOCALS
        for (int i = 0; i < 300; i++) l299 += 1000;
        l298 += 30000;
        long wideOne = l299;
        double wideTwo = wideOne * 2.0;
        Object boxed = wideTwo;
        return sum + l299 + (int) wideTwo + l298 + boxed.hashCode() % 2;
    }

    static String finallyMaze(int x) {
        String trail = "";
        outer:
        for (int i = 0; ; i++) {
            try {
                try {
                    trail += "t" + i;
                    if (i == x) break outer;
                    if (i == x + 1) return trail + "R";
                    if (i % 2 == 0) throw new RuntimeException("even");
                } catch (RuntimeException e) {
                    trail += "c";
                    if (i > 4) throw new IllegalStateException(trail, e);
                    continue outer;
                } finally {
                    trail += "f";
                    try {
                        Object o = null;
                        if (i == 3) o.toString();
                    } catch (NullPointerException e) {
                        trail += "n";
                    }
                }
            } finally {
                trail += "F";
                if (i > 6) return trail + "!";
            }
        }
        return trail;
    }

    static String resources(int mode) throws Exception {
        StringBuilder trail = new StringBuilder();
        class Res implements AutoCloseable {
            final int id;
            Res(int id) { this.id = id; trail.append("o").append(id); if (mode == id) throw new IllegalStateException("open" + id); }
            @Override public void close() { trail.append("x").append(id); if (mode == id + 10) throw new IllegalStateException("close" + id); }
        }
        try (Res a = new Res(1); Res b = new Res(2)) {
            trail.append("body");
            if (mode == 20) throw new Exception("body");
        } catch (Exception e) {
            trail.append(e.getMessage()).append(e.getSuppressed().length);
        }
        return trail.toString();
    }

    static Object newAcrossBranches(int x) {
        return new StringBuilder(x > 0 ? x > 10 ? "big" : "small" : new String(new char[] {'n', x < -5 ? 'v' : 'g'}))
                .append(new int[x > 3 ? 1 : 2].length)
                .append(new ArrayList<>(x == 0 ? Collections.emptyList() : Arrays.asList(x, new Integer(x > 2 ? 1 : 5))));
    }

    static int varargs(Object... all) { return all == null ? -1 : all.length; }

    static int[][] arrays(int n) {
        int[][] grid = new int[n][n + 1];
        byte[] bytes = new byte[n]; char[] chars = new char[n]; short[] shorts = new short[n];
        long[] longs = new long[n]; float[] floats = new float[n]; double[] doubles = new double[n];
        boolean[] flags = new boolean[n]; String[] texts = new String[n]; Object[][][] deep = new Object[2][3][];
        for (int i = 0; i < n; i++) {
            bytes[i] += i * 100; chars[i] += i; shorts[i]--; longs[i] |= 1L << i; floats[i] = i / 3f; doubles[i] -= i * .1;
            flags[i] ^= i % 2 == 0; texts[i] = texts[i] + i; deep[i % 2][i % 3] = texts;
            grid[i][i]++; grid[i][i + 1] += grid[i][i]-- + ++grid[i][i];
            grid[i][0] += bytes[i] + chars[i] + shorts[i] + (int) longs[i] + (int) (floats[i] * doubles[i]) + (flags[i] ? 1 : 0);
        }
        return grid;
    }

    static <T extends Comparable<T>> T greatest(List<? extends T> all) {
        T best = null;
        for (Iterator<? extends T> it = all.iterator(); it.hasNext(); ) {
            T next = it.next();
            if (best == null || next.compareTo(best) > 0) best = next;
        }
        return best;
    }

    static String lambdas(int base) {
        IntBinaryOperator add = (a, b) -> a + b + base;
        Function<Integer, Function<Integer, Integer>> curried = a -> b -> a * b - base;
        Supplier<List<String>> maker = ArrayList::new;
        BiFunction<String, Boolean, Derived> constructor = Derived::new;
        Callable<String> call = () -> { synchronized (LOG) { return "called" + base; } };
        List<String> list = maker.get();
        list.add("b" + add.applyAsInt(1, 2)); list.add("a" + curried.apply(3).apply(4));
        list.sort(Comparator.comparing(String::toString).reversed());
        try {
            return list + call.call() + constructor.apply("hello", true).seen;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static int recursion(int depth) {
        try {
            return depth == 0 ? 0 : 1 + recursion(depth - 1);
        } finally {
            counter += depth & 1;
        }
    }

    static int ternaryMess(Integer a, Long b, Object c) {
        Object chosen = a != null ? a : b != null ? (Object) b : c;
        int r = chosen instanceof Integer ? (Integer) chosen : chosen instanceof Long ? ((Long) chosen).intValue() : chosen.hashCode();
        r += (a == null ? 0 : a++) + (b == null ? 0 : (int) (long) --b);
        return (r & 1) == 0 ? r : -r;
    }

    static String caught(Callable<?> body) {
        try {
            return String.valueOf(body.call());
        } catch (Throwable t) {
            StackTraceElement top = t.getStackTrace().length == 0 ? null : t.getStackTrace()[0];
            return t + (top != null && top.getClassName().startsWith("Torture") ? "@" + top.getMethodName() + ":" + top.getLineNumber() : "");
        }
    }

    static void say(Object o) { System.out.println(o); }

    public static void main(String[] args) throws Exception {
        say(FROM_INITIALISER + " " + TABLE);
        for (Colour c : Colour.values()) say(c + " " + c.weight(10) + " " + onEnum(c) + " " + Colour.valueOf(c.name()).ordinal());
        for (int i = -1; i < 5; i++) {
            Derived d = new Derived(i);
            say(d.seen + d.value + d.describe() + d.get() + Arrays.toString(d.extra) + d.new Inner().outer());
        }
        say(new Derived(-3L, 2.5, 4, 5, 6).seen + new Derived(3L, -2.5).seen + Shape.unit().area());
        say(loopAtZero(17) + " " + loopAtZero(100));
        int[] box = {0}; forever(box); say(box[0]);
        Object a = new Object(), b = new Object();
        for (int mode = 0; mode < 6; mode++) { int m = mode; say(caught(() -> synchronizedBlocks(a, b, m))); }
        say(Thread.holdsLock(a) + " " + Thread.holdsLock(b));
        say(caught(() -> synchronizedBlocks(null, b, 0)));
        say(caught(() -> synchronizedStatic(13)) + synchronizedStatic(4) + new Torture().synchronizedInstance(-4, 1.25));
        say(Thread.holdsLock(Torture.class));
        for (String s : new String[] {"alpha", "beta", "Aa", "BB", "C#", "long text"}) say(switchOnString(s));
        for (int i = -1; i < 8; i++) { int x = i; say(caught(() -> dense(x))); }
        for (int i : new int[] {-100000, 7, 1000, Integer.MAX_VALUE, Integer.MIN_VALUE, 0}) say(sparse(i));
        say(wide(123456789L, -987654321L, 3.75, 1.5f, 3) + " " + wide(5, 0, Double.NaN, 0f, 40));
        say(manyLocals(3));
        for (int i = -3; i < 9; i++) { int x = i; say(caught(() -> finallyMaze(x))); }
        for (int i : new int[] {0, 1, 2, 11, 12, 20}) say(resources(i));
        for (int i : new int[] {-9, -1, 0, 1, 5, 50}) say(newAcrossBranches(i));
        say(varargs() + varargs(1, 2L) + varargs((Object[]) null) + varargs(new Object[3], 'c'));
        say(Arrays.deepToString(arrays(4)) + caught(() -> arrays(-1)));
        say(greatest(Arrays.asList("x", "zz", "y")) + lambdas(5));
        say(recursion(50) + " " + counter);
        say(ternaryMess(3, null, "s") + ternaryMess(null, 9L, "s") + ternaryMess(null, null, "s"));
        say(caught(() -> ternaryMess(null, null, null)));
        Map<Object, Object> map = new HashMap<>();
        map.computeIfAbsent("k", k -> new Derived(2).area()); say(map);
        assert counter > 0 : "assertions are compiled too";
        say(huge(5) + huge(250));
    }

    static int huge(int x) {
        switch (x) {
HUGE_CASES
            default: return -1;
        }
    }
}
