// Promise: VarHandle access modes hold for the elements of arrays too (MethodHandles.arrayElementVarHandle).
// Way: an element of an int array in release and acquire mode.
// Bad twin: the reader acquires another element.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

class HandleArrayElement {
    static class Cell {
        int value;
    }

    static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);

    static int good() throws Exception {
        Cell cell = new Cell();
        int[] flags = new int[128];
        return Pair.together(() -> {
            cell.value = 42;
            ELEMENT.setRelease(flags, 7, 1);
        }, () -> {
            Pair.poll(() -> (int) ELEMENT.getAcquire(flags, 7));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        int[] flags = new int[128];
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            ELEMENT.setRelease(flags, 7, 1);
        }), () -> Pair.repeatRead(() -> (int) ELEMENT.getAcquire(flags, 100) == 1 ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleArrayElement::good, HandleArrayElement::bad);
    }
}
