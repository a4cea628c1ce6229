// Promise: JLS 17.4.5: start and volatile order the publication of an object that is never changed again.
// Way: a registry of handlers is built once, stored into a volatile field, and used through an interface and
// default methods.
// Bad twin: handlers are changed after the registry was stored.
import java.util.List;

class ImmutablePublished {
    static class Cell {
        int value;
    }

    interface Handler {
        Cell state();

        default int handle() {
            return state().value;
        }
    }

    static class Registry {
        volatile List<Handler> handlers = List.of();
    }

    static Handler handler(Cell state) {
        return () -> state;
    }

    static int good() throws Exception {
        Registry registry = new Registry();
        return Pair.together(() -> {
            Cell state = new Cell();
            state.value = 42;
            registry.handlers = List.of(handler(state));
        }, () -> Pair.poll(() -> registry.handlers.stream().mapToInt(Handler::handle).sum()));
    }

    static int bad() throws Exception {
        Registry registry = new Registry();
        return Pair.together(() -> {
            Cell state = new Cell();
            registry.handlers = List.of(handler(state));
            Pair.repeat(() -> state.value = 42);
        }, () -> {
            Pair.until(() -> !registry.handlers.isEmpty());
            return Pair.repeatRead(() -> registry.handlers.stream().mapToInt(Handler::handle).sum());
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ImmutablePublished::good, ImmutablePublished::bad);
    }
}
