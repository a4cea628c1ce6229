// Promise: JLS 12.4.2 step 2 and 17.4.5: a thread that finds a class being initialised by another waits until that
// has ended, and sees it.
// Way: a static method of the class is called by both threads; the initialiser takes a while.
// Bad twin: the static object is filled by a static method instead of the initialiser.
class StaticInitialiserOtherThread {
    static class Cell {
        int value;
    }

    static class Config {
        static final Cell cell = new Cell();

        static {
            Pair.pause();
            cell.value = 42;
        }

        static int get() {
            return cell.value;
        }
    }

    static class LateConfig {
        static final Cell cell = new Cell();

        static void configure() {
            cell.value = 42;
        }

        static int get() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        return Pair.together(() -> Config.get(), () -> Config.get());
    }

    static int bad() throws Exception {
        return Pair.together(() -> Pair.repeat(() -> LateConfig.configure()),
                () -> Pair.repeatRead(() -> LateConfig.get()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StaticInitialiserOtherThread::good, StaticInitialiserOtherThread::bad);
    }
}
