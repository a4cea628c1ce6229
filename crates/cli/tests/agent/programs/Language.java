package torture;

import java.io.Closeable;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What the language offers, with everything that may show that a class was rewritten printed. */
public class Language {
    private static final StringBuilder ORDER = new StringBuilder();
    private static int counter;
    private int plain = 1;
    protected long wide = 2;
    double fraction = 3.5;
    public Object reference;
    int[] numbers = {1, 2, 3};
    Language next;

    public static void main(String[] arguments) throws Exception {
        initialisation();
        constructors();
        control();
        monitors();
        numbers();
        closures();
        nullPointers();
        otherExceptions();
        stackTraces();
        resources();
        hiddenClasses();
        System.out.println("order " + ORDER);
    }

    // Class initialisation

    static class Base {
        static int shared = log("Base.shared", 1);
        int own = log("Base.own", 2);

        Base() {
            log("Base()", 0);
            hook();
        }

        void hook() {
            log("Base.hook", 0);
        }
    }

    static class Derived extends Base {
        static int shared = log("Derived.shared", 3);
        int own = log("Derived.own", 4);

        Derived() {
            super();
            log("Derived()", own);
        }

        @Override
        void hook() {
            log("Derived.hook", own);
        }
    }

    interface Constants {
        int LAZY = log("Constants.LAZY", 9);

        default int lazily() {
            return LAZY;
        }
    }

    static class Failing {
        static int value = Integer.parseInt("no number");
    }

    static int log(String what, int value) {
        ORDER.append(what).append('=').append(value).append(' ');
        return value;
    }

    static void initialisation() {
        System.out.println(new Derived().own + Base.shared + Derived.shared);
        System.out.println(new Constants() { }.lazily());
        for (int i = 0; i < 2; i++) {
            try {
                System.out.println(Failing.value);
            } catch (ExceptionInInitializerError error) {
                System.out.println("initialiser: " + error.getCause());
            } catch (NoClassDefFoundError error) {
                System.out.println("no class: " + error.getMessage());
            }
        }
    }

    // Constructors

    static class Outer {
        private int secret = 5;

        class Inner {
            int both = secret + 1;

            class Innermost {
                int all = both + secret++;
            }
        }
    }

    static class Chain {
        final int a;
        int b;

        Chain(int a) {
            this(a, a > 2 ? a * 2 : counter++);
        }

        Chain(int a, int b) {
            super();
            this.a = a;
            this.b = b;
            if (b == 8) {
                throw new IllegalArgumentException("eight");
            }
        }
    }

    static class Capturing extends Chain {
        int captured;

        Capturing(int value, IntSupplier supplier) {
            super(supplier.getAsInt() + (value > 0 ? 1 : 0));
            captured = value;
        }
    }

    static void constructors() {
        Outer outer = new Outer();
        Outer.Inner inner = outer.new Inner();
        System.out.println(inner.new Innermost().all + " " + outer.secret);
        int local = 7;
        Chain anonymous = new Chain(3) {
            int more = local + b;

            @Override
            public String toString() {
                return "anonymous " + more + " " + a;
            }
        };
        System.out.println(anonymous);
        System.out.println(new Capturing(local, () -> local * 2).a + " " + counter);
        try {
            new Chain(4);
        } catch (IllegalArgumentException exception) {
            System.out.println(exception.getMessage() + " " + exception.getStackTrace()[0].getLineNumber());
        }
    }

    // Control flow

    enum Shape {
        ROUND {
            @Override
            int corners() {
                return 0;
            }
        },
        SQUARE, TRIANGLE(3);

        private int corners = 4;

        Shape() {
        }

        Shape(int corners) {
            this.corners = corners;
        }

        int corners() {
            return corners;
        }
    }

    @SuppressWarnings("finally")
    static int finallyWins(Language object) {
        try {
            object.plain++;
            throw new IllegalStateException("lost");
        } finally {
            object.plain += 10;
            return object.plain;
        }
    }

    static int nested(Language object, int depth) {
        int result = 0;
        outer:
        for (int i = 0; i < 5; i++) {
            try {
                for (int j = 0; j < 5; j++) {
                    try {
                        object.wide += j;
                        if (j == depth) {
                            continue outer;
                        }
                        if (i * j == 6) {
                            break outer;
                        }
                    } finally {
                        result += object.plain;
                    }
                }
            } finally {
                result *= 2;
            }
        }
        return result;
    }

    static String choose(String word) {
        switch (word) {
            case "Aa":
            case "BB":
                return "same hash " + word;
            case "one":
                return "1";
            default:
                return "?";
        }
    }

    static int sparse(int value) {
        switch (value) {
            case -1_000_000: return 1;
            case 0: return 2;
            case 1_000_000: return 3;
            default: return 4;
        }
    }

    static void control() {
        Language object = new Language();
        System.out.println(finallyWins(object) + " " + nested(object, 3) + " " + nested(object, 9) + " " + object.wide);
        System.out.println(choose("Aa") + choose("BB") + choose("one") + choose("two"));
        System.out.println(sparse(0) + sparse(1_000_000) * 10 + sparse(-1_000_000) * 100 + sparse(5) * 1000);
        for (Shape shape : Shape.values()) {
            switch (shape) {
                case ROUND: System.out.print("round "); break;
                case SQUARE: System.out.print("square "); // falls through
                default: System.out.print(shape.corners() + " ");
            }
        }
        System.out.println(Shape.valueOf("TRIANGLE").getDeclaringClass().getSimpleName() + Shape.ROUND.getClass().getName());
        Map<String, Integer> map = new TreeMap<>();
        for (String word : "the cat and the dog and the bird".split(" ")) {
            map.merge(word, 1, Integer::sum);
        }
        System.out.println(map);
    }

    // Monitors that end in every way

    private final Object lock = new Object();

    int leave(int how) {
        synchronized (lock) {
            plain++;
            synchronized (this) {
                if (how == 0) {
                    return plain;
                }
                for (;;) {
                    synchronized (Language.class) {
                        if (how == 1) {
                            break;
                        }
                        if (how == 2) {
                            throw new IllegalStateException("inside");
                        }
                        how--;
                    }
                }
                wide++;
            }
            return -plain;
        }
    }

    synchronized int throwing(int value) throws IOException {
        plain += value;
        if (value == 0) {
            throw new IOException("zero");
        }
        return value > 3 ? throwing(value - 1) + plain : plain;
    }

    static synchronized int throwingStatic(int value) {
        counter += value;
        return 10 / value;
    }

    void report(String what) {
        System.out.println(what + " " + Thread.holdsLock(lock) + Thread.holdsLock(this) + Thread.holdsLock(Language.class));
    }

    static void monitors() {
        Language object = new Language();
        for (int how = 0; how < 4; how++) {
            try {
                System.out.println(object.leave(how));
            } catch (IllegalStateException exception) {
                System.out.println(exception.getMessage());
            }
            object.report("leave " + how);
        }
        for (int value = 5; value >= 0; value -= 5) {
            try {
                System.out.println(object.throwing(value));
            } catch (IOException exception) {
                System.out.println(exception + " " + exception.getStackTrace()[0]);
            }
            try {
                System.out.println(throwingStatic(value));
            } catch (ArithmeticException exception) {
                System.out.println(exception + " " + exception.getStackTrace()[0]);
            }
            object.report("throwing " + value);
        }
        try {
            Object nothing = null;
            synchronized (nothing) {
                System.out.println("unreachable");
            }
        } catch (NullPointerException exception) {
            System.out.println("null monitor: " + exception.getMessage());
        }
    }

    // Numbers, strings, arrays

    static void numbers() {
        Language object = new Language();
        object.wide = Long.MAX_VALUE;
        object.wide++;
        object.fraction /= 0;
        object.plain <<= 33;
        object.numbers[object.plain++ % 3] += object.plain-- + ++object.wide;
        long[][] square = new long[3][4];
        square[1][2]++;
        square[2][3] = square[1][2]-- - 7;
        System.out.println(object.wide + " " + object.fraction + " " + object.plain + " " + Arrays.toString(object.numbers)
                + Arrays.deepToString(square));
        String text = null;
        text += object.plain + 'c' + 1L + 2.5f + "" + true;
        System.out.println(text + (char) ('a' + 1) + (byte) 200 + (short) 70000 + (int) 1e20 + 7 % -3 + -7 / 2 + (-7 >>> 28));
        Object boxed = 127;
        System.out.println(boxed == (Object) 127 ? "cached" : "new");
        object.next = object;
        object.next.next.next.plain += object.next.plain;
        System.out.println(object.plain);
    }

    // Lambdas and method references

    interface Greeter<T extends Comparable<T>> {
        String greet(T who);

        default Greeter<T> twice() {
            return who -> greet(who) + greet(who);
        }
    }

    private String instanceGreet(String who) {
        plain++;
        return "hello " + who + plain;
    }

    static void closures() throws Exception {
        Language object = new Language();
        Greeter<String> greeter = object::instanceGreet;
        System.out.println(greeter.twice().twice().greet("x"));
        Function<String, Integer> length = String::length;
        Supplier<List<String>> maker = ArrayList::new;
        BiFunction<Language, String, String> unbound = Language::instanceGreet;
        List<String> words = maker.get();
        IntStream.range(0, 6).mapToObj(i -> "w" + i * i).forEach(words::add);
        System.out.println(words.stream().sorted(Comparator.comparing(length).reversed().thenComparing(Comparator.naturalOrder()))
                .collect(Collectors.joining(",")) + unbound.apply(object, "y"));
        Runnable nested = () -> {
            Runnable inner = () -> object.plain *= 2;
            inner.run();
            inner.run();
        };
        nested.run();
        System.out.println(object.plain);
        try {
            Runnable failing = () -> {
                throw new IllegalStateException("in lambda");
            };
            failing.run();
        } catch (IllegalStateException exception) {
            System.out.println(exception.getMessage() + " " + exception.getStackTrace()[0].getMethodName()
                    + exception.getStackTrace()[0].getLineNumber());
        }
    }

    // Exceptions and what they say

    Language none() {
        return null;
    }

    static void attempt(String name, Runnable action) {
        try {
            action.run();
            System.out.println(name + ": nothing happened");
        } catch (RuntimeException exception) {
            StackTraceElement top = exception.getStackTrace()[0];
            System.out.println(name + ": " + exception + " at " + top.getMethodName() + ":" + top.getLineNumber());
        }
    }

    static void nullPointers() {
        Language object = new Language();
        Language nothing = object.next;
        int[] noNumbers = null;
        Language[] many = new Language[2];
        attempt("read", () -> System.out.println(nothing.plain));
        attempt("write", () -> nothing.plain = 1);
        attempt("wide write", () -> nothing.wide = 1);
        attempt("compound", () -> nothing.fraction += 2);
        attempt("chain", () -> System.out.println(object.next.next.plain));
        attempt("call", () -> nothing.report("x"));
        attempt("result", () -> object.none().plain++);
        attempt("array read", () -> System.out.println(noNumbers[0]));
        attempt("array write", () -> noNumbers[0] = 1);
        attempt("array field", () -> many[1].numbers[0]++);
        attempt("length", () -> System.out.println(noNumbers.length));
        attempt("unbox", () -> System.out.println((int) (Integer) object.reference));
        attempt("throw", () -> {
            RuntimeException noException = (RuntimeException) object.reference;
            throw noException;
        });
        attempt("monitor", () -> {
            synchronized (object.next) {
                counter++;
            }
        });
    }

    static void otherExceptions() {
        Language object = new Language();
        Object[] strings = new String[1];
        attempt("bounds", () -> object.numbers[3]++);
        attempt("negative", () -> object.reference = new int[object.plain - 2]);
        attempt("store", () -> strings[0] = object);
        attempt("cast", () -> System.out.println(((Language) strings.clone()[0]).plain + ((Comparator<?>) (Object) object).hashCode()));
        attempt("division", () -> object.plain /= object.plain - 1);
        attempt("owner", () -> object.lock.notify());
        attempt("suppressed", () -> {
            RuntimeException exception = new RuntimeException("outer", new IOException("cause"));
            exception.addSuppressed(new IllegalStateException("beside"));
            throw exception;
        });
    }

    static void trace(int depth, Language object) {
        if (depth == 0) {
            object.next.plain = 1;
        }
        trace(depth - 1, object);
    }

    static void stackTraces() {
        try {
            trace(3, new Language());
        } catch (NullPointerException exception) {
            for (StackTraceElement element : exception.getStackTrace()) {
                System.out.println("  " + element);
            }
        }
        StackWalker.getInstance().forEach(frame -> System.out.println("  " + frame.getMethodName() + ":" + frame.getLineNumber()));
        new Exception("printed", new RuntimeException("because")).printStackTrace();
    }

    static class Resource implements Closeable {
        private final String name;

        Resource(String name) {
            this.name = name;
            System.out.println("open " + name);
        }

        @Override
        public void close() throws IOException {
            System.out.println("close " + name);
            throw new IOException("closing " + name);
        }
    }

    static void resources() {
        try (Resource one = new Resource("1"); Resource two = new Resource("2")) {
            System.out.println(one.name + two.name);
            throw new IllegalStateException("body");
        } catch (IOException | IllegalStateException exception) {
            System.out.println(exception + Arrays.toString(exception.getSuppressed()));
        }
    }

    // Hidden classes exist since Java 15; the class of this compiler does not know them yet.

    static class Template implements Supplier<String> {
        private int calls;

        @Override
        public String get() {
            calls += 2;
            return "template " + calls;
        }
    }

    static void hiddenClasses() throws Exception {
        Class<?> options;
        try {
            options = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        } catch (ClassNotFoundException exception) {
            System.out.println("no hidden classes here");
            return;
        }
        byte[] bytes;
        try (java.io.InputStream stream = Language.class.getResourceAsStream("Language$Template.class")) {
            bytes = stream.readAllBytes();
        }
        Object none = java.lang.reflect.Array.newInstance(options, 0);
        Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class, none.getClass());
        for (int i = 0; i < 3; i++) {
            MethodHandles.Lookup lookup = (MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), bytes, true, none);
            Supplier<?> hidden = (Supplier<?>) lookup.lookupClass().getDeclaredConstructor().newInstance();
            hidden.get();
            System.out.println("hidden " + hidden.get());
        }
        Map<String, Supplier<String>> suppliers = new HashMap<>();
        suppliers.put("plain", new Template());
        System.out.println(suppliers.get("plain").get());
    }
}
