// Promise: java.util.concurrent, memory consistency: adding to a concurrent collection happens-before access by
// another thread.
// Way: a ConcurrentSkipListSet of comparable objects, known as a Set, read by its stream.
// Bad twin: the set holds numbers, and the reader does not look into it.
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

class SkipListSetAdd {
    static class Cell {
        int value;
    }

    static class Entry implements Comparable<Entry> {
        final Cell cell = new Cell();

        @Override
        public int compareTo(Entry other) {
            return Integer.compare(System.identityHashCode(this), System.identityHashCode(other));
        }
    }

    static int good() throws Exception {
        Set<Entry> set = new ConcurrentSkipListSet<>();
        return Pair.together(() -> {
            Entry entry = new Entry();
            entry.cell.value = 42;
            set.add(entry);
        }, () -> Pair.poll(() -> set.stream().mapToInt(entry -> entry.cell.value).sum()));
    }

    static int bad() throws Exception {
        Set<Integer> set = new ConcurrentSkipListSet<>();
        Entry entry = new Entry();
        return Pair.together(() -> Pair.repeat(() -> {
            entry.cell.value = 42;
            set.add(1);
        }), () -> Pair.repeatRead(() -> entry.cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SkipListSetAdd::good, SkipListSetAdd::bad);
    }
}
