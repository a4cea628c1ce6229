// Promise: Collections.synchronizedList: all access is synchronized, on the list; JLS 17.4.5: its unlock happens-
// before the next lock.
// Way: add and get through the wrapper.
// Bad twin: the list itself is used by the reader, past the wrapper.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

class SynchronizedList {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        List<Cell> list = Collections.synchronizedList(new ArrayList<>());
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            list.add(made);
        }, () -> {
            Pair.until(() -> list.size() == 1);
            return list.get(0).value;
        });
    }

    static int bad() throws Exception {
        List<Cell> plain = new ArrayList<>();
        plain.add(new Cell());
        List<Cell> list = Collections.synchronizedList(plain);
        return Pair.together(() -> Pair.repeat(() -> {
            list.get(0).value = 42;
        }), () -> Pair.repeatRead(() -> plain.get(0).value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SynchronizedList::good, SynchronizedList::bad);
    }
}
