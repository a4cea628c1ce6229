// Promise: JLS 12.4.2 with Class.forName, which initialises the class.
// Way: one thread initialises the class by its name, the other uses it.
// Bad twin: the class has no initialiser; the object is filled by reflection after it was found by its name.
import java.lang.reflect.Field;

class InitialisedByName {
    static class Cell {
        int value;
    }

    static class Found {
        static final Cell cell = new Cell();

        static {
            cell.value = 42;
        }
    }

    static class Empty {
        static final Cell cell = new Cell();
    }

    static int good() throws Exception {
        String name = InitialisedByName.class.getName() + "$Found";
        return Pair.together(() -> Class.forName(name), () -> Found.cell.value);
    }

    static int bad() throws Exception {
        String name = InitialisedByName.class.getName() + "$Empty";
        return Pair.together(() -> {
            Field field = Class.forName(name).getDeclaredField("cell");
            Cell found = (Cell) field.get(null);
            Pair.repeat(() -> found.value = 42);
        }, () -> Pair.repeatRead(() -> Empty.cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InitialisedByName::good, InitialisedByName::bad);
    }
}
