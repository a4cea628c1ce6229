// Promise: JLS 12.4.1 and 12.4.2: calling a static method through a method reference initialises its class first,
// once.
// Way: a method reference to a static method, made before any thread runs, called by both.
// Bad twin: the method reference leads to a method that writes.
class InitialisedByMethodReference {
    static class Cell {
        int value;
    }

    static class Tools {
        static final Cell cell = new Cell();

        static {
            cell.value = 42;
        }

        static int get() {
            return cell.value;
        }

        static int change() {
            cell.value = 42;
            return 42;
        }
    }

    static int good() throws Exception {
        Pair.Reading get = Tools::get;
        return Pair.together(() -> get.read(), get);
    }

    static int bad() throws Exception {
        Pair.Reading get = Tools::get;
        Pair.Reading change = Tools::change;
        return Pair.together(() -> Pair.repeat(() -> change.read()), () -> Pair.repeatRead(get));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InitialisedByMethodReference::good, InitialisedByMethodReference::bad);
    }
}
