// Promise: JLS 17.4.5: a write of a volatile field happens-before every later read of that field.
// Way: the field is private in a nested class, and read through functional interfaces that hold method references.
// Bad twin: the references are those of two different objects.
import java.util.function.BooleanSupplier;

class VolatileThroughAccessors {
    static class Cell {
        int value;
    }

    static class Signal {
        private volatile boolean raised;

        void raise() {
            raised = true;
        }

        boolean get() {
            return raised;
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Signal signal = new Signal();
        Runnable raise = signal::raise;
        BooleanSupplier isRaised = signal::get;
        return Pair.together(() -> {
            cell.value = 42;
            raise.run();
        }, () -> {
            Pair.until(isRaised::getAsBoolean);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Runnable raise = new Signal()::raise;
        BooleanSupplier isRaised = new Signal()::get;
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            raise.run();
        }), () -> Pair.repeatRead(() -> isRaised.getAsBoolean() ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileThroughAccessors::good, VolatileThroughAccessors::bad);
    }
}
