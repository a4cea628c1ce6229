// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread.
// Way: a DelayQueue whose elements expire after a millisecond.
// Bad twin: the element is written in the time before it expires, after it was put.
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

class DelayQueueTake {
    static class Cell {
        int value;
    }

    static class Late implements Delayed {
        final long due = System.nanoTime() + 1_000_000L;
        final Cell cell = new Cell();

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }

    static int good() throws Exception {
        BlockingQueue<Late> queue = new DelayQueue<>();
        return Pair.together(() -> {
            Late made = new Late();
            made.cell.value = 42;
            queue.put(made);
        }, () -> queue.take().cell.value);
    }

    static int bad() throws Exception {
        BlockingQueue<Late> queue = new DelayQueue<>();
        return Pair.together(() -> {
            Late made = new Late();
            queue.put(made);
            Pair.repeat(() -> made.cell.value = 42);
        }, () -> {
            Late taken = queue.take();
            return Pair.repeatRead(() -> taken.cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, DelayQueueTake::good, DelayQueueTake::bad);
    }
}
