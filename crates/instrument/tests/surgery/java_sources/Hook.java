/** What stressed classes call. */
public class Hook {
    public static int calls;
    public static void hit() { calls++; }
    public static void hit(Object object, int site) { calls += site; }
}
