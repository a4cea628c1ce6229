// Promise: JLS 12.4.2: a class is initialised under a lock, by one thread; every other thread that uses it comes
// after that.
// Way: the holder idiom: a nested class whose static field is made at the first use.
// Bad twin: the static field is filled at the first use with a plain test for null.
class HolderIdiom {
    static class Cell {
        int value;
    }

    static class Holder {
        static final Cell ONLY = new Cell();

        static {
            Pair.pause();
            ONLY.value = 42;
        }
    }

    static Cell lazy;

    static Cell lazily() {
        if (lazy == null) {
            Cell made = new Cell();
            made.value = 42;
            lazy = made;
        }
        return lazy;
    }

    static int good() throws Exception {
        return Pair.together(() -> Holder.ONLY.hashCode(), () -> Holder.ONLY.value);
    }

    static int bad() throws Exception {
        lazy = null;
        return Pair.together(() -> Pair.repeat(() -> lazily().value = 42),
                () -> Pair.repeatRead(() -> lazily().value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HolderIdiom::good, HolderIdiom::bad);
    }
}
