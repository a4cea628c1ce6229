// Promise: JLS 12.4.1 and 12.4.2: the fields of an interface are initialised once, under its lock, before a thread
// reads them.
// Way: a field of an interface, made by a call.
// Bad twin: a static method of the interface changes the object later.
class InterfaceConstant {
    static class Cell {
        int value;
    }

    interface Defaults {
        Cell ONLY = make();

        private static Cell make() {
            Cell made = new Cell();
            made.value = 42;
            return made;
        }

        static void change() {
            ONLY.value = 42;
        }
    }

    static int good() throws Exception {
        return Pair.together(() -> Defaults.ONLY.hashCode(), () -> Defaults.ONLY.value);
    }

    static int bad() throws Exception {
        return Pair.together(() -> Pair.repeat(() -> Defaults.change()),
                () -> Pair.repeatRead(() -> Defaults.ONLY.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InterfaceConstant::good, InterfaceConstant::bad);
    }
}
