// Promise: JLS 17.4.5: a volatile write happens-before every later read; monitors order the rest. Double-checked
// locking rests on both.
// Way: the field is volatile, and read once before the lock.
// Bad twin: the field is not volatile.
class DoubleChecked {
    static class Cell {
        int value;
    }

    static class Good {
        private volatile Cell only;

        Cell get() {
            Cell seen = only;
            if (seen == null) {
                synchronized (this) {
                    seen = only;
                    if (seen == null) {
                        seen = new Cell();
                        seen.value = 42;
                        only = seen;
                    }
                }
            }
            return seen;
        }
    }

    static class Bad {
        private Cell only;

        Cell get() {
            if (only == null) {
                synchronized (this) {
                    if (only == null) {
                        Cell made = new Cell();
                        made.value = 42;
                        only = made;
                    }
                }
            }
            return only;
        }
    }

    static int good() throws Exception {
        Good lazy = new Good();
        return Pair.together(() -> lazy.get(), () -> lazy.get().value);
    }

    static int bad() throws Exception {
        Bad lazy = new Bad();
        return Pair.together(() -> Pair.repeat(() -> lazy.get().value = 42),
                () -> Pair.repeatRead(() -> lazy.get().value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, DoubleChecked::good, DoubleChecked::bad);
    }
}
