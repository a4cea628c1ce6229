import java.util.function.Supplier;

class Construction {
    static int made;

    static class Base {
        int base;

        Base(Object argument, long number) {
            base = (int) number;
        }
    }

    class Inner extends Base {
        int inner = 3;
        long wide;

        Inner(boolean big, Thread helper) {
            super(big ? new Thread(helper) : (Object) "small", big ? made++ : Long.MAX_VALUE);
            wide = base + made;
        }
    }

    public static void main(String[] arguments) {
        int local = arguments.length + 1;
        Inner inner = new Construction().new Inner(true, null);
        System.out.println(inner.inner + inner.wide + inner.base);
        Supplier<Object> captured = () -> local;
        Object anonymous = new Base(captured.get(), 4) {
            final int kept = local;
            int changing = local;

            @Override
            public String toString() {
                return kept + " " + changing;
            }
        };
        System.out.println(anonymous);
    }
}
