// Promise: VarHandle.setRelease and getAcquire: a ring buffer for one producer and one consumer needs no more.
// Way: two counters in release and acquire mode over an array of cells.
// Bad twin: the producer publishes its counter before it fills the slot.
import java.util.concurrent.atomic.AtomicInteger;

class RingBuffer {
    static class Cell {
        int value;
    }

    static class Ring {
        private final Cell[] slots = {new Cell(), new Cell(), new Cell(), new Cell()};
        private final AtomicInteger head = new AtomicInteger();
        private final AtomicInteger tail = new AtomicInteger();

        void put(int value) throws Exception {
            int at = tail.getPlain();
            Pair.until(() -> at - head.getAcquire() < slots.length);
            slots[at % slots.length].value = value;
            tail.setRelease(at + 1);
        }

        void putTooEarly(int value) throws Exception {
            int at = tail.getPlain();
            Pair.until(() -> at - head.getAcquire() < slots.length);
            tail.setRelease(at + 1);
            Pair.repeat(() -> slots[at % slots.length].value = value);
        }

        int take() throws Exception {
            int at = head.getPlain();
            Pair.until(() -> tail.getAcquire() > at);
            int value = slots[at % slots.length].value;
            head.setRelease(at + 1);
            return value;
        }
    }

    static int good() throws Exception {
        Ring ring = new Ring();
        return Pair.together(() -> {
            for (int round = 0; round < 14; round++) {
                ring.put(3);
            }
        }, () -> {
            int sum = 0;
            for (int round = 0; round < 14; round++) {
                sum += ring.take();
            }
            return sum;
        });
    }

    static int bad() throws Exception {
        Ring ring = new Ring();
        return Pair.together(() -> {
            for (int round = 0; round < 3; round++) {
                ring.putTooEarly(3);
            }
        }, () -> {
            int sum = 0;
            for (int round = 0; round < 3; round++) {
                sum += ring.take();
            }
            return sum;
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, RingBuffer::good, RingBuffer::bad);
    }
}
