// Promise: JLS 8.4.3.6 with 17.4.5: an inherited synchronized method locks the object it is called on.
// Way: a subclass inherits one synchronized method and adds another.
// Bad twin: the subclass overrides the inherited method without synchronized; the modifier is not inherited.
class MonitorInherited {
    static class Cell {
        int value;
    }

    static class Base {
        final Cell cell = new Cell();

        synchronized void put(int amount) {
            cell.value = amount;
        }
    }

    static class Derived extends Base {
        synchronized int get() {
            return cell.value;
        }
    }

    static class Careless extends Derived {
        @Override
        void put(int amount) {
            cell.value = amount;
        }
    }

    static int good() throws Exception {
        Derived object = new Derived();
        return Pair.together(() -> object.put(42), () -> Pair.poll(() -> object.get()));
    }

    static int bad() throws Exception {
        Derived object = new Careless();
        return Pair.together(() -> Pair.repeat(() -> object.put(42)), () -> Pair.repeatRead(() -> object.get()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorInherited::good, MonitorInherited::bad);
    }
}
