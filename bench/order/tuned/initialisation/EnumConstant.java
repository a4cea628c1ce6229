// Promise: JLS 8.9 and 12.4.2: the constants of an enum are made when the enum is initialised, before any thread
// can use them.
// Way: a constant's constructor fills its object.
// Bad twin: a method of the constant fills the object later.
class EnumConstant {
    static class Cell {
        int value;
    }

    enum Planet {
        EARTH;

        final Cell cell = new Cell();

        Planet() {
            cell.value = 42;
        }

        void change() {
            cell.value = 42;
        }

        int get() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        return Pair.together(() -> Planet.EARTH.get(), () -> Planet.valueOf("EARTH").get());
    }

    static int bad() throws Exception {
        return Pair.together(() -> Pair.repeat(() -> Planet.EARTH.change()),
                () -> Pair.repeatRead(() -> Planet.EARTH.get()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, EnumConstant::good, EnumConstant::bad);
    }
}
