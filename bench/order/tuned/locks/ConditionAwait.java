// Promise: java.util.concurrent, memory consistency: releasing the lock happens-before a Condition.await on it
// returns.
// Way: await in a loop over a flag that the lock guards.
// Bad twin: the signaller writes after it has released the lock.
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

class ConditionAwait {
    static class Cell {
        int value;
    }

    static class Gate {
        final Lock lock = new ReentrantLock();
        final Condition opened = lock.newCondition();
        boolean isOpen;

        void open() {
            lock.lock();
            isOpen = true;
            opened.signalAll();
            lock.unlock();
        }

        void pass() throws InterruptedException {
            lock.lock();
            while (!isOpen) {
                opened.await();
            }
            lock.unlock();
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Gate gate = new Gate();
        return Pair.together(() -> {
            cell.value = 42;
            gate.open();
        }, () -> {
            gate.pass();
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Gate gate = new Gate();
        return Pair.together(() -> {
            gate.open();
            Pair.repeat(() -> cell.value = 42);
        }, () -> {
            gate.pass();
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ConditionAwait::good, ConditionAwait::bad);
    }
}
