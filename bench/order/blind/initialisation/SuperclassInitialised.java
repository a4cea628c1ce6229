// Promise: JLS 12.4.1: the superclass is initialised before the class; 12.4.2: under its lock, once.
// Way: one thread makes an object of the subclass, the other reads through the superclass.
// Bad twin: the constructor of the subclass writes instead of the superclass's initialiser.
class SuperclassInitialised {
    static class Cell {
        int value;
    }

    static class Base {
        static final Cell cell = new Cell();

        static {
            cell.value = 42;
        }
    }

    static class Derived extends Base {
    }

    static class OtherBase {
        static final Cell cell = new Cell();
    }

    static class OtherDerived extends OtherBase {
        OtherDerived() {
            cell.value = 42;
        }
    }

    static int good() throws Exception {
        return Pair.together(() -> new Derived(), () -> Base.cell.value);
    }

    static int bad() throws Exception {
        return Pair.together(() -> Pair.repeat(() -> new OtherDerived()),
                () -> Pair.repeatRead(() -> OtherBase.cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SuperclassInitialised::good, SuperclassInitialised::bad);
    }
}
