// Promise: JLS 17.4.5: a write of a volatile field happens-before every later read of that field, whatever class it
// is named through.
// Way: a subclass accesses the field of its superclass.
// Bad twin: the subclass hides the volatile field of its superclass by another one of the same name: the threads
// use different fields.
class VolatileInSuperclass {
    static class Cell {
        int value;
    }

    static class Base {
        volatile boolean raised;
    }

    static class Derived extends Base {
        void raiseOwn() {
            raised = true;
        }
    }

    static class Hiding extends Base {
        volatile boolean raised;

        void raiseOwn() {
            raised = true;
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Derived object = new Derived();
        Base base = object;
        return Pair.together(() -> {
            cell.value = 42;
            object.raiseOwn();
        }, () -> {
            Pair.until(() -> base.raised);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Hiding object = new Hiding();
        Base base = object;
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            object.raiseOwn();
        }), () -> Pair.repeatRead(() -> base.raised ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileInSuperclass::good, VolatileInSuperclass::bad);
    }
}
