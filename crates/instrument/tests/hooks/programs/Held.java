import java.util.Vector;

class Held {
    private static long total;
    private final Vector<String> names = new Vector<>();
    private int small;
    private double wide;
    private Held other;

    synchronized void locked() {
        small++;
    }

    void fields() {
        wide = small + wide;
        total += small;
    }

    void block(int[] numbers, double[] fractions) {
        synchronized (names) {
            numbers[0] = numbers[1];
            fractions[1] = fractions[0];
        }
        locked();
        names.add("a");
        names.trimToSize();
        Math.max(small, 1);
    }

    public static void main(String[] arguments) {
        Held held = new Held();
        held.locked();
        held.fields();
        held.block(new int[2], new double[2]);
        try {
            held.other.small = 5;
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
        try {
            synchronized (held.other) {
                System.out.println("nobody");
            }
        } catch (NullPointerException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(held.small + " " + held.wide + " " + total);
    }
}
