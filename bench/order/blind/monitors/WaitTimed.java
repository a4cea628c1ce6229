// Promise: JLS 17.2.1 with 17.4.5: a timed wait, too, locks the monitor again before it returns, after the unlock
// of whoever changed the condition.
// Way: wait with a time limit in a loop.
// Bad twin: the reader waits on the monitor of another object, for its time limit, and reads without the writer's
// lock.
class WaitTimed {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Object lock = new Object();
        return Pair.together(() -> {
            synchronized (lock) {
                cell.value = 42;
                lock.notify();
            }
        }, () -> {
            synchronized (lock) {
                while (cell.value == 0) {
                    lock.wait(5);
                }
                return cell.value;
            }
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Object lock = new Object();
        Object unrelated = new Object();
        return Pair.together(() -> Pair.repeat(() -> {
            synchronized (lock) {
                cell.value = 42;
                lock.notify();
            }
        }), () -> Pair.repeatRead(() -> {
            synchronized (unrelated) {
                unrelated.wait(1);
            }
            return cell.value;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, WaitTimed::good, WaitTimed::bad);
    }
}
