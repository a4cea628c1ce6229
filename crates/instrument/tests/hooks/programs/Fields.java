class Fields {
    int number = 1;
    long wide;
    double real;
    Object object;
    final int constant = 5;
    volatile int flag;
    static int shared;
    static long sharedWide;
    static final Object LOCK = new Object();
    static final String NAME = "name";

    static class Base {
        int inherited;
    }

    static class Derived extends Base {
        final Base kept;
        int own;

        Derived(int start) {
            this(start > 0 ? new Base() : null, start);
        }

        Derived(Base base, int start) {
            super();
            kept = base;
            own = start;
            inherited = start;
        }
    }

    enum Colour { RED, GREEN }

    record Pair(int left, Object right) { }

    interface Constants {
        Object THING = new Object();
    }

    public static void main(String[] arguments) {
        Fields fields = new Fields();
        fields.number = fields.number + 1;
        fields.wide = fields.wide + 2;
        fields.real += 3;
        fields.object = "text";
        System.out.println(fields.number + " " + fields.wide + " " + fields.real);
        System.out.println(fields.object + " " + fields.constant);
        fields.flag++;
        shared++;
        sharedWide += 4;
        System.out.println(shared + sharedWide);
        System.out.println(LOCK != null);
        System.out.println(NAME);
        Derived derived = new Derived(7);
        System.out.println(derived.own + derived.inherited + derived.kept.inherited);
        System.out.println(Colour.values().length + new Pair(1, 2).left());
        System.out.println(Constants.THING == null);
        Fields nothing = null;
        try {
            System.out.println(nothing.number);
        } catch (NullPointerException exception) {
            System.out.println(exception.getMessage());
        }
        try {
            nothing.wide = 5;
        } catch (NullPointerException exception) {
            System.out.println(exception.getMessage());
        }
    }
}
