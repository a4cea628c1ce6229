// Promise: JLS 12.4.2: a singleton in a static final field is made before any thread can see it, with everything
// its constructor wrote.
// Way: `new` of a helper class inside the initialiser; the threads use an instance method.
// Bad twin: the singleton is made by whoever asks first, without a lock.
class SingletonConstructor {
    static class Cell {
        int value;
    }

    static class Single {
        static final Single ONLY = new Single();
        final Cell cell = new Cell();

        private Single() {
            cell.value = 42;
        }

        int get() {
            return cell.value;
        }
    }

    static class Racy {
        private static Racy only;
        Cell cell = new Cell();

        static Racy get() {
            if (only == null) {
                only = new Racy();
            }
            return only;
        }
    }

    static int good() throws Exception {
        return Pair.together(() -> Single.ONLY.get(), () -> Single.ONLY.get());
    }

    static int bad() throws Exception {
        return Pair.together(() -> Pair.repeat(() -> Racy.get().cell.value = 42),
                () -> Pair.repeatRead(() -> Racy.get().cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SingletonConstructor::good, SingletonConstructor::bad);
    }
}
