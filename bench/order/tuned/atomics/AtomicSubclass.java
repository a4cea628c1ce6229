// Promise: java.util.concurrent.atomic: set and get of an AtomicReference have volatile effects, inherited by
// subclasses.
// Way: a subclass of AtomicReference with methods of its own.
// Bad twin: the subclass's method keeps the object in a plain field instead.
import java.util.concurrent.atomic.AtomicReference;

class AtomicSubclass {
    static class Cell {
        int value;
    }

    static class Mailbox extends AtomicReference<Cell> {
        private static final long serialVersionUID = 1L;
        private transient Cell plain = new Cell();

        void post(Cell letter) {
            set(letter);
        }

        Cell look() {
            return get();
        }

        Cell plain() {
            return plain;
        }
    }

    static int good() throws Exception {
        Mailbox mailbox = new Mailbox();
        return Pair.together(() -> {
            Cell letter = new Cell();
            letter.value = 42;
            mailbox.post(letter);
        }, () -> {
            Pair.until(() -> mailbox.look() != null);
            return mailbox.look().value;
        });
    }

    static int bad() throws Exception {
        Mailbox mailbox = new Mailbox();
        return Pair.together(() -> Pair.repeat(() -> mailbox.plain().value = 42),
                () -> Pair.repeatRead(() -> mailbox.plain().value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, AtomicSubclass::good, AtomicSubclass::bad);
    }
}
