// Promise: AbstractQueuedSynchronizer: releaseShared happens-before an acquireShared that it lets through.
// Way: a latch of one's own in shared mode, as in the class comment.
// Bad twin: the latch is open from the beginning.
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

class SynchronizerLatch {
    static class Cell {
        int value;
    }

    static class BooleanLatch extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1L;

        BooleanLatch(boolean open) {
            setState(open ? 1 : 0);
        }

        @Override
        protected int tryAcquireShared(int ignored) {
            return getState() != 0 ? 1 : -1;
        }

        @Override
        protected boolean tryReleaseShared(int ignored) {
            setState(1);
            return true;
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        BooleanLatch latch = new BooleanLatch(false);
        return Pair.together(() -> {
            cell.value = 42;
            latch.releaseShared(1);
        }, () -> {
            latch.acquireSharedInterruptibly(1);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        BooleanLatch latch = new BooleanLatch(true);
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            latch.releaseShared(1);
        }, () -> {
            latch.acquireSharedInterruptibly(1);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SynchronizerLatch::good, SynchronizerLatch::bad);
    }
}
