// Promise: JLS 17.4.5: a write of a volatile field happens-before every later read of that field.
// Way: the field is behind an interface with two methods.
// Bad twin: another implementation of the interface keeps the flag in a thread-local variable; the reader stops
// waiting after a while.
class VolatileThroughInterface {
    static class Cell {
        int value;
    }

    interface Signal {
        void raise();

        boolean isRaised();
    }

    static class VolatileSignal implements Signal {
        private volatile boolean raised;

        @Override
        public void raise() {
            raised = true;
        }

        @Override
        public boolean isRaised() {
            return raised;
        }
    }

    static class LocalSignal implements Signal {
        private final ThreadLocal<Boolean> raised = ThreadLocal.withInitial(() -> false);

        @Override
        public void raise() {
            raised.set(true);
        }

        @Override
        public boolean isRaised() {
            return raised.get();
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Signal signal = new VolatileSignal();
        return Pair.together(() -> {
            cell.value = 42;
            signal.raise();
        }, () -> {
            Pair.until(signal::isRaised);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Signal signal = new LocalSignal();
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            signal.raise();
        }), () -> Pair.repeatRead(() -> signal.isRaised() ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileThroughInterface::good, VolatileThroughInterface::bad);
    }
}
