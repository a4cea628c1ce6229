// Promise: Condition: await with a limit returns with the lock held again, so that it comes after the last unlock.
// Way: await with a limit, and awaitNanos, in a loop.
// Bad twin: the condition belongs to another lock than the writer's.
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class ConditionAwaitTimed {
    static class Cell {
        int value;
    }

    static int awaitValue(Cell cell, Lock lock, Condition changed) throws Exception {
        lock.lock();
        try {
            long left = 5_000_000_000L;
            while (cell.value == 0 && left > 0) {
                changed.await(1, TimeUnit.MILLISECONDS);
                left = changed.awaitNanos(1_000_000L) <= 0 ? left - 2_000_000L : left;
            }
            return cell.value;
        } finally {
            lock.unlock();
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        Condition changed = lock.newCondition();
        return Pair.together(() -> {
            lock.lock();
            cell.value = 42;
            changed.signal();
            lock.unlock();
        }, () -> awaitValue(cell, lock, changed));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Lock lock = new ReentrantLock();
        Lock other = new ReentrantLock();
        Condition changed = other.newCondition();
        return Pair.together(() -> Pair.repeat(() -> {
            lock.lock();
            cell.value = 42;
            lock.unlock();
        }), () -> Pair.repeatRead(() -> {
            other.lock();
            changed.await(1, TimeUnit.MILLISECONDS);
            int seen = cell.value;
            other.unlock();
            return seen;
        }));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ConditionAwaitTimed::good, ConditionAwaitTimed::bad);
    }
}
