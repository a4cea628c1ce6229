// Promise: JLS 17.4.5: an unlock of a monitor happens-before every later lock of it.
// Way: synchronized methods of an implementation, called through an interface.
// Bad twin: another implementation of the interface does not synchronize.
class MonitorThroughInterface {
    static class Cell {
        int value;
    }

    interface Box {
        void put(int amount);

        int get();
    }

    static class LockedBox implements Box {
        private final Cell cell = new Cell();

        @Override
        public synchronized void put(int amount) {
            cell.value = amount;
        }

        @Override
        public synchronized int get() {
            return cell.value;
        }
    }

    static class OpenBox implements Box {
        private final Cell cell = new Cell();

        @Override
        public void put(int amount) {
            cell.value = amount;
        }

        @Override
        public int get() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        Box box = new LockedBox();
        return Pair.together(() -> box.put(42), () -> Pair.poll(() -> box.get()));
    }

    static int bad() throws Exception {
        Box box = new OpenBox();
        return Pair.together(() -> Pair.repeat(() -> box.put(42)), () -> Pair.repeatRead(() -> box.get()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorThroughInterface::good, MonitorThroughInterface::bad);
    }
}
