// Promise: JLS 17.5.1: what a final field leads to is as new as the end of the constructor; here a list that its
// class never changes.
// Way: a class of one's own that implements an interface over a final array, used through the interface.
// Bad twin: the class has a method that replaces the cell's content, and the writer calls it later.
import java.util.concurrent.atomic.AtomicReference;

class FinalImmutableList {
    static class Cell {
        int value;
    }

    interface Values {
        int first();
    }

    static class FrozenValues implements Values {
        private final Cell[] cells;

        FrozenValues(int value) {
            Cell only = new Cell();
            only.value = value;
            cells = new Cell[] {only};
        }

        @Override
        public int first() {
            return cells[0].value;
        }

        void replace(int value) {
            cells[0].value = value;
        }
    }

    static int good() throws Exception {
        AtomicReference<Values> published = new AtomicReference<>();
        return Pair.together(() -> published.setPlain(new FrozenValues(42)), () -> {
            Pair.until(() -> published.getOpaque() != null);
            return published.getOpaque().first();
        });
    }

    static int bad() throws Exception {
        AtomicReference<Values> published = new AtomicReference<>();
        return Pair.together(() -> {
            FrozenValues values = new FrozenValues(41);
            published.setOpaque(values);
            Pair.repeat(() -> values.replace(42));
        }, () -> {
            Pair.until(() -> published.getOpaque() != null);
            return Pair.repeatRead(() -> published.getOpaque().first());
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FinalImmutableList::good, FinalImmutableList::bad);
    }
}
