// Promise: JLS 8.4.3.6 with 17.4.5: a static synchronized method locks the monitor of its class's Class object.
// Way: static synchronized methods of one class.
// Bad twin: the reader's method is an instance method: it locks another monitor than the writer's.
class MonitorStaticMethod {
    static class Cell {
        int value;
    }

    static class Registry {
        static final Cell cell = new Cell();

        static synchronized void put(int amount) {
            cell.value = amount;
        }

        static synchronized int get() {
            return cell.value;
        }

        synchronized int getOfInstance() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        return Pair.together(() -> Registry.put(42), () -> Pair.poll(() -> Registry.get()));
    }

    static int bad() throws Exception {
        Registry registry = new Registry();
        return Pair.together(() -> Pair.repeat(() -> Registry.put(42)),
                () -> Pair.repeatRead(() -> registry.getOfInstance()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorStaticMethod::good, MonitorStaticMethod::bad);
    }
}
