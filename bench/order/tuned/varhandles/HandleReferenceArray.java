// Promise: VarHandle.setVolatile on an element of an array of references publishes what it refers to.
// Way: an array of cells, elements in volatile mode.
// Bad twin: the element is stored before the object is filled.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleReferenceArray {
    static class Cell {
        int value;
    }

    static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Cell[].class);

    static int good() throws Exception {
        Cell[] slots = new Cell[4];
        return Pair.together(() -> {
            Cell made = new Cell();
            made.value = 42;
            ELEMENT.setVolatile(slots, 1, made);
        }, () -> {
            Pair.until(() -> ELEMENT.getVolatile(slots, 1) != null);
            return ((Cell) ELEMENT.getVolatile(slots, 1)).value;
        });
    }

    static int bad() throws Exception {
        Cell[] slots = new Cell[4];
        return Pair.together(() -> {
            Cell made = new Cell();
            ELEMENT.setVolatile(slots, 1, made);
            Pair.repeat(() -> made.value = 42);
        }, () -> {
            Pair.until(() -> ELEMENT.getVolatile(slots, 1) != null);
            return Pair.repeatRead(() -> ((Cell) ELEMENT.getVolatile(slots, 1)).value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleReferenceArray::good, HandleReferenceArray::bad);
    }
}
