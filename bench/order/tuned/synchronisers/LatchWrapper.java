// Promise: CountDownLatch: actions before countDown happen-before actions after a successful await.
// Way: a class of one's own holds a value and a latch, as a simple future.
// Bad twin: the class returns the value without having waited.
import java.util.concurrent.CountDownLatch;

class LatchWrapper {
    static class Cell {
        int value;
    }

    static class Promise {
        private final CountDownLatch latch = new CountDownLatch(1);
        private final Cell cell = new Cell();

        void set(int value) {
            cell.value = value;
            latch.countDown();
        }

        int get() throws InterruptedException {
            latch.await();
            return cell.value;
        }

        int peek() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        Promise promise = new Promise();
        return Pair.together(() -> promise.set(42), promise::get);
    }

    static int bad() throws Exception {
        Promise promise = new Promise();
        return Pair.together(() -> Pair.repeat(() -> promise.set(42)), () -> Pair.repeatRead(promise::peek));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, LatchWrapper::good, LatchWrapper::bad);
    }
}
