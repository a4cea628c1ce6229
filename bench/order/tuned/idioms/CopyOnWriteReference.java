// Promise: JLS 17.4.5: a volatile write happens-before every later read.
// Way: writers copy an immutable-in-effect object and store the copy into a volatile field; readers take the
// reference once.
// Bad twin: the writer changes the object that readers hold.
class CopyOnWriteReference {
    static class Cell {
        int value;
    }

    static class Snapshot {
        volatile Cell current = new Cell();

        void add(int amount) {
            Cell copy = new Cell();
            copy.value = current.value + amount;
            current = copy;
        }

        void addInPlace(int amount) {
            current.value += amount;
            current = current;
        }
    }

    static int good() throws Exception {
        Snapshot snapshot = new Snapshot();
        return Pair.together(() -> {
            for (int round = 0; round < 7; round++) {
                snapshot.add(6);
            }
        }, () -> {
            Pair.until(() -> snapshot.current.value == 42);
            return snapshot.current.value;
        });
    }

    static int bad() throws Exception {
        Snapshot snapshot = new Snapshot();
        return Pair.together(() -> Pair.repeat(() -> snapshot.addInPlace(6)),
                () -> Pair.repeatRead(() -> snapshot.current.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, CopyOnWriteReference::good, CopyOnWriteReference::bad);
    }
}
