// Promise: JLS 17.4.5: a write of a volatile field happens-before every later read of it; the field is the
// reference to the array, not its elements.
// Way: a filled array is stored into a volatile field.
// Bad twin: the cell is put into an array whose reference was stored before: a write of an element is not volatile.
class VolatileArrayReference {
    static class Cell {
        int value;
    }

    static class Holder {
        volatile Cell[] published;
    }

    static int good() throws Exception {
        Holder holder = new Holder();
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            holder.published = new Cell[] {made};
        }, () -> {
            Pair.until(() -> holder.published != null);
            return holder.published[0].value;
        });
    }

    static int bad() throws Exception {
        Holder holder = new Holder();
        holder.published = new Cell[] {new Cell()};
        return Pair.together(() -> Pair.repeat(() -> {
            Cell[] array = holder.published;
            array[0].value = 42;
            array[0] = array[0];
        }), () -> Pair.repeatRead(() -> holder.published[0].value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileArrayReference::good, VolatileArrayReference::bad);
    }
}
