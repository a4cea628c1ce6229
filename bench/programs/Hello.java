package programs;

/** The smallest program: what it takes longer with the agent is what starting costs. */
public final class Hello {
    public static void main(String[] arguments) {
        System.out.println("hello");
    }
}
