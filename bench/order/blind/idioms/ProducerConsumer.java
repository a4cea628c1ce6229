// Promise: JLS 17.2 and 17.4.5: wait, notifyAll and the monitor order what producers and consumers do.
// Way: a bounded buffer of one's own over a plain array.
// Bad twin: the buffer gives the consumer its array without the monitor.
class ProducerConsumer {
    static class Cell {
        int value;
    }

    static class Buffer {
        private final Cell[] slots = {new Cell(), new Cell()};
        private int filled;
        private int next;

        synchronized void put(int value) throws InterruptedException {
            while (filled == slots.length) {
                wait();
            }
            slots[(next + filled) % slots.length].value = value;
            filled++;
            notifyAll();
        }

        synchronized int take() throws InterruptedException {
            while (filled == 0) {
                wait();
            }
            int value = slots[next].value;
            next = (next + 1) % slots.length;
            filled--;
            notifyAll();
            return value;
        }

        int peek() {
            return slots[0].value;
        }
    }

    static int good() throws Exception {
        Buffer buffer = new Buffer();
        return Pair.together(() -> {
            for (int round = 0; round < 14; round++) {
                buffer.put(3);
            }
        }, () -> {
            int sum = 0;
            for (int round = 0; round < 14; round++) {
                sum += buffer.take();
            }
            return sum;
        });
    }

    static int bad() throws Exception {
        Buffer buffer = new Buffer();
        return Pair.together(() -> Pair.repeat(() -> {
            buffer.put(3);
            buffer.take();
        }), () -> Pair.repeatRead(buffer::peek));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ProducerConsumer::good, ProducerConsumer::bad);
    }
}
