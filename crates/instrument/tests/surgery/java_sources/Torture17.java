import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/** What Java 17 adds. */
public class Torture17 {
    sealed interface Node permits Leaf, Pair, Tagged {}
    record Leaf(int value) implements Node {
        Leaf {
            if (value < 0) throw new IllegalArgumentException("negative " + value);
        }
    }
    record Pair(Node left, Node right) implements Node {
        Pair(int a, int b) { this(new Leaf(a > b ? a : b), new Leaf(Math.min(a, b))); }
    }
    record Tagged(String tag, long weight, double scale, int... parts) implements Node {
        static int made;
        Tagged { made++; parts = parts.clone(); }
    }

    enum Day { MONDAY, FRIDAY, SUNDAY }

    static int sum(Node node) {
        if (node instanceof Leaf leaf && leaf.value() > 0) return leaf.value();
        if (node instanceof Pair pair) return sum(pair.left()) + sum(pair.right());
        if (!(node instanceof Tagged tagged)) return 0;
        return tagged.parts().length + (int) (tagged.weight() * tagged.scale());
    }

    static String kind(Day day) {
        return switch (day) {
            case MONDAY -> "work";
            case FRIDAY -> {
                try {
                    yield Objects.requireNonNull(day).name().toLowerCase();
                } finally {
                    Tagged.made += 10;
                }
            }
            case SUNDAY -> throw new IllegalStateException("closed");
        };
    }

    static int length(String text) {
        return 1 + switch (text) {
            case "", "a" -> 10;
            case "Aa", "BB" -> { int n = 0; for (char c : text.toCharArray()) n += c; yield n; }
            default -> text.isBlank() ? -1 : text.length();
        } * 2;
    }

    private int hidden = 5;
    private static String secret(Torture17 other) { return "secret" + other.hidden; }
    class Inner {
        private int more = hidden++;
        private String nested() { return secret(Torture17.this) + more; }
    }
    interface WithPrivate {
        private int help() { return 4; }
        default int helped() { synchronized (this) { return help() + 1; } }
    }

    static void say(Object o) { System.out.println(o); }

    static String caught(Supplier<?> body) {
        try {
            return String.valueOf(body.get());
        } catch (Throwable t) {
            return t.getClass().getName() + ": " + (t instanceof NullPointerException ? "npe" : t.getMessage());
        }
    }

    public static void main(String[] args) {
        say(sum(new Pair(new Pair(3, 4), new Tagged("t", 10L, 1.5, 1, 2, 3))) + " " + new Pair(1, 2) + new Leaf(3).equals(new Leaf(3)));
        say(caught(() -> new Leaf(-1)) + new Tagged("x", 1, 2).hashCode() % 1);
        for (Day day : Day.values()) say(caught(() -> kind(day)));
        for (String s : List.of("", "Aa", "BB", "  ", "longer")) say(length(s));
        var inner = new Torture17().new Inner();
        say(inner.nested() + inner.more + new WithPrivate() {}.helped());
        say("""
            text "block" of %d
            """.formatted(Tagged.made));
        var map = Map.of("k", new int[] {1});
        map.get("k")[0] += "abc".chars().map(c -> c - 'a' + Tagged.made).sum();
        say(map.get("k")[0] + "concat" + 'c' + 1.5f + null + 7L + new Leaf(9));
        say(caught(() -> { Object o = null; return o.toString(); }));
    }
}
