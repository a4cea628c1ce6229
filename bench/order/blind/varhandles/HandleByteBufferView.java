// Promise: VarHandle access modes hold for byteBufferViewVarHandle at aligned offsets.
// Way: an int in a direct ByteBuffer in release and acquire mode.
// Bad twin: the reader acquires another int of the buffer.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

class HandleByteBufferView {
    static class Cell {
        int value;
    }

    static final VarHandle VIEW = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    static int good() throws Exception {
        Cell cell = new Cell();
        ByteBuffer buffer = ByteBuffer.allocateDirect(256);
        return Pair.together(() -> {
            cell.value = 42;
            VIEW.setRelease(buffer, 64, 1);
        }, () -> {
            Pair.poll(() -> (int) VIEW.getAcquire(buffer, 64));
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        ByteBuffer buffer = ByteBuffer.allocateDirect(256);
        return Pair.together(() -> Pair.repeat(() -> {
            cell.value = 42;
            VIEW.setRelease(buffer, 64, 1);
        }), () -> Pair.repeatRead(() -> (int) VIEW.getAcquire(buffer, 192) == 1 ? 1 : cell.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, HandleByteBufferView::good, HandleByteBufferView::bad);
    }
}
