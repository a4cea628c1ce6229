// Promise: JLS 17.4.5: a write of a volatile field happens-before every later read of that field.
// Way: the volatile field holds the reference to the object that was filled before.
// Bad twin: the object is filled after its reference was stored.
class VolatileReference {
    static class Cell {
        int value;
    }

    static class Holder {
        volatile Cell published;
    }

    static int good() throws Exception {
        Holder holder = new Holder();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            holder.published = made;
        }, () -> {
            Pair.until(() -> holder.published != null);
            return holder.published.value;
        });
    }

    static int bad() throws Exception {
        Holder holder = new Holder();
        return Pair.together(() -> {
            Cell made = new Cell();
            holder.published = made;
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> holder.published != null);
            Cell seen = holder.published;
            return Pair.repeatRead(() -> seen.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileReference::good, VolatileReference::bad);
    }
}
