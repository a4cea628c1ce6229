/** What Java 21 adds. */
public class Torture21 {
    sealed interface Node permits Leaf, Pair {}
    record Leaf(Object value) implements Node {}
    record Pair(Node left, Node right) implements Node {}

    static String show(Object o) {
        return switch (o) {
            case null -> "null";
            case Integer i when i > 10 -> "big" + i;
            case Integer i -> "int" + i;
            case String s when s.length() > 2 -> { synchronized (s) { yield "text" + s; } }
            case Pair(Leaf(String a), Leaf(Integer b)) -> a + b;
            case Pair(var l, Pair(var m, var r)) -> show(l) + show(m) + show(r);
            case Pair p -> "pair" + p;
            case Leaf(var v) -> "leaf(" + show(v) + ")";
            case int[] array -> "array" + array.length;
            default -> "other" + o;
        };
    }

    public static void main(String[] args) throws Exception {
        Object[] all = {null, 5, 50, "a", "abc", new Leaf(3), new Pair(new Leaf("x"), new Leaf(1)),
            new Pair(new Leaf(1), new Pair(new Leaf(2), new Leaf("three"))), new Pair(new Leaf(1), new Leaf(2)), new int[3], 'c'};
        for (Object o : all) System.out.println(show(o));
        Thread t = Thread.ofVirtual().start(() -> { synchronized (all) { System.out.println("virtual " + all.length); } });
        t.join();
    }
}
