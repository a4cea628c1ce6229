// Promise: Field.set and Field.get access the field as the language does; JLS 17.4.5: a volatile write happens-
// before every later read.
// Way: the volatile field is written and read by reflection.
// Bad twin: the field that reflection accesses is another volatile field than the one that is read.
import java.lang.reflect.Field;

class VolatileReflection {
    static class Cell {
        int value;
    }

    static class Flags {
        volatile boolean raised;
        volatile boolean unrelated;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flags flags = new Flags();
        Field field = Flags.class.getDeclaredField("raised");
        return Pair.together(() -> {
            cell.value = 42;
            field.setBoolean(flags, true);
        }, () -> {
            Pair.until(() -> field.getBoolean(flags));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flags flags = new Flags();
        Field field = Flags.class.getDeclaredField("raised");
        Field other = Flags.class.getDeclaredField("unrelated");
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            field.setBoolean(flags, true);
        }), () -> Pair.repeatRead(() -> other.getBoolean(flags) ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileReflection::good, VolatileReflection::bad);
    }
}
