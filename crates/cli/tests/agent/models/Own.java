package own;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** A lock and a queue of the program's own, with what they guard. */
final class Own {
    private Own() {
    }

    /** A lock that parks. */
    static class Gate {
        private final AtomicReference<Thread> owner = new AtomicReference<>();

        void enter() {
            while (!owner.compareAndSet(null, Thread.currentThread())) {
                LockSupport.parkNanos(this, 1000);
            }
        }

        void leave() {
            owner.set(null);
        }
    }

    /** Inherits its rows. */
    static final class NamedGate extends Gate {
        final String name = "named";
    }

    /** Runs tasks in a thread of its own. */
    static final class Workers {
        private volatile Runnable next;
        private volatile int handed;
        private volatile int done;

        Workers() {
            Thread worker = new Thread(this::work);
            worker.setDaemon(true);
            worker.start();
        }

        private void work() {
            while (true) {
                Runnable task = next;
                if (task == null) {
                    LockSupport.parkNanos(1000);
                } else {
                    next = null;
                    task.run();
                    done = done + 1;
                }
            }
        }

        void hand(Runnable task) {
            handed = handed + 1;
            next = task;
        }

        void awaitAll() {
            while (done < handed) {
                LockSupport.parkNanos(1000);
            }
        }
    }

    static final class Counter {
        final NamedGate gate = new NamedGate();
        int guarded;
        int forgotten;

        void add() {
            gate.enter();
            guarded++;
            forgotten++;
            gate.leave();
        }

        void forget() {
            forgotten = 0;
        }

        int read() {
            gate.enter();
            int value = guarded;
            gate.leave();
            return value;
        }
    }

    static final class Job implements Runnable {
        int input;
        int output;

        @Override
        public void run() {
            output = input + 1;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Counter counter = new Counter();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int round = 0; round < 100; round++) {
                    counter.add();
                }
                counter.forget();
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Workers workers = new Workers();
        Job job = new Job();
        job.input = 1;
        workers.hand(job);
        workers.awaitAll();
        System.out.println(counter.read() + " " + job.output);
    }
}
