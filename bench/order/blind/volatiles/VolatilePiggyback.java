// Promise: JLS 17.4.5: with program order and transitivity a volatile write orders everything its thread did before
// it.
// Way: several plain objects travel with one volatile counter.
// Bad twin: one of the objects is written after the counter.
class VolatilePiggyback {
    static class Cell {
        int value;
    }

    static class Shared {
        final Cell first = new Cell();
        final Cell second = new Cell();
        volatile int version;
    }

    static int good() throws Exception {
        Shared shared = new Shared();
        return Pair.together(() -> {
            shared.first.value = 40;
            shared.second.value = 2;
            shared.version = 1;
        }, () -> {
            Pair.until(() -> shared.version == 1);
            return shared.first.value + shared.second.value;
        });
    }

    static int bad() throws Exception {
        Shared shared = new Shared();
        return Pair.together(() -> {
            shared.first.value = 40;
            shared.version = 1;
            Pair.repeat(() -> shared.second.value = 2);
        }, () -> {
            Pair.until(() -> shared.version == 1);
            return Pair.repeatRead(() -> shared.first.value + shared.second.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatilePiggyback::good, VolatilePiggyback::bad);
    }
}
