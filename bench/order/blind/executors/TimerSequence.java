// Promise: Timer: one thread executes all tasks of a timer, one after the other (JLS 17.4.5, program order).
// Way: two tasks of one timer write and read; a latch brings the answer back.
// Bad twin: the tasks belong to two timers.
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.CountDownLatch;

class TimerSequence {
    static class Cell {
        int value;
    }

    static TimerTask task(Runnable body) {
        return new TimerTask() {
            @Override
            public void run() {
                body.run();
            }
        };
    }

    static int run(Timer first, Timer second, Cell cell) throws Exception {
        CountDownLatch done = new CountDownLatch(2);
        Cell result = new Cell();
        first.schedule(task(() -> {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
            done.countDown();
        }), 0);
        second.schedule(task(() -> {
            for (int round = 0; round < 5; round++) {
                result.value = cell.value;
                Pair.pause();
            }
            done.countDown();
        }), 1);
        done.await();
        first.cancel();
        second.cancel();
        return result.value;
    }

    static int good() throws Exception {
        Timer timer = new Timer(true);
        return run(timer, timer, new Cell());
    }

    static int bad() throws Exception {
        return run(new Timer(true), new Timer(true), new Cell());
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, TimerSequence::good, TimerSequence::bad);
    }
}
