// Promise: JLS 17.5.1: a plain map behind a final field that nobody changes after the constructor may be read by
// every thread.
// Way: a HashMap behind a final field, read through the interface Map; the outer reference is passed in opaque
// mode.
// Bad twin: a value of the map is changed after the constructor.
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

class FinalMap {
    static class Cell {
        int value;
    }

    static class Settings {
        final Map<String, Cell> byName = new HashMap<>();

        Settings() {
            Cell only = new Cell();
            only.value = 42;
            byName.put("answer", only);
        }

        int get(String name) {
            return byName.get(name).value;
        }
    }

    static int good() throws Exception {
        AtomicReference<Settings> published = new AtomicReference<>();
        return Pair.together(() -> published.setOpaque(new Settings()), () -> {
            Pair.until(() -> published.getOpaque() != null);
            return published.getOpaque().get("answer");
        });
    }

    static int bad() throws Exception {
        AtomicReference<Settings> published = new AtomicReference<>();
        return Pair.together(() -> {
            Settings settings = new Settings();
            published.setOpaque(settings);
            Pair.repeat(() -> settings.byName.get("answer").value++);
        }, () -> {
            Pair.until(() -> published.getOpaque() != null);
            return Pair.repeatRead(() -> published.getOpaque().get("answer"));
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, FinalMap::good, FinalMap::bad);
    }
}
