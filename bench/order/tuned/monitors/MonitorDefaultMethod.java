// Promise: JLS 17.4.5: an unlock of a monitor happens-before every later lock of it.
// Way: default methods of an interface lock `this`.
// Bad twin: the reading default method does not lock.
class MonitorDefaultMethod {
    static class Cell {
        int value;
    }

    interface Box {
        Cell cell();

        default void put() {
            synchronized (this) {
                cell().value = 42;
            }
        }

        default int get() {
            synchronized (this) {
                return cell().value;
            }
        }

        default int peek() {
            return cell().value;
        }
    }

    static Box box() {
        Cell only = new Cell();
        return () -> only;
    }

    static int good() throws Exception {
        Box box = box();
        return Pair.together(() -> box.put(), () -> Pair.poll(() -> box.get()));
    }

    static int bad() throws Exception {
        Box box = box();
        return Pair.together(() -> Pair.repeat(() -> box.put()), () -> Pair.repeatRead(() -> box.peek()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorDefaultMethod::good, MonitorDefaultMethod::bad);
    }
}
