package torture;

import java.util.Vector;

/**
 * Blocks that can be split, but only in a moment that does not come by itself: threads take turns, and go ahead
 * only when one is held back.
 */
public final class Windows {
    private static final int ROUNDS = 12;
    /** Between two turns, so that what is suspected in one is known in the next. */
    private static final int PAUSE_MILLISECONDS = 20;

    private Windows() { }

    /** Something that should happen all at once. */
    interface Action {
        void act(int thread);
    }

    static final class ReadModifyWrite implements Action {
        private int balance;

        @Override
        public void act(int thread) {
            int read = balance;
            balance = read + 1;
        }
    }

    static final class OfStatic implements Action {
        private static int total;

        @Override
        public void act(int thread) {
            total = total + 1;
        }
    }

    static final class SynchronizedMethods implements Action {
        private int owner;

        private synchronized int owner() {
            return owner;
        }

        private synchronized void setOwner(int thread) {
            owner = thread;
        }

        @Override
        public void act(int thread) {
            if (owner() != thread) {
                setOwner(thread);
            }
        }
    }

    static final class SynchronizedBlocks implements Action {
        private final Object lock = new Object();
        private int owner;

        @Override
        public void act(int thread) {
            int seen;
            synchronized (lock) {
                seen = owner;
            }
            synchronized (lock) {
                owner = seen + thread;
            }
        }
    }

    static final class LibraryCalls implements Action {
        private final Vector<Integer> seen = new Vector<>();

        @Override
        public void act(int thread) {
            if (!seen.contains(-thread)) {
                seen.add(thread);
            }
        }
    }

    /** Nothing can come in between. */
    static final class Locked implements Action {
        private int balance;

        @Override
        public synchronized void act(int thread) {
            int read = balance;
            balance = read + 1;
        }
    }

    /** Looks as if something could come in between, and is right all the same. */
    static final class HandedOver implements Action {
        private volatile int turn = 1;
        private int balance;

        @Override
        public void act(int thread) {
            if (turn == thread) {
                balance = balance + 1;
                balance = balance * 2;
                turn = 3 - thread;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Action action;
        switch (arguments[0]) {
            case "read-modify-write": action = new ReadModifyWrite(); break;
            case "static": action = new OfStatic(); break;
            case "synchronized-methods": action = new SynchronizedMethods(); break;
            case "synchronized-blocks": action = new SynchronizedBlocks(); break;
            case "library-calls": action = new LibraryCalls(); break;
            case "locked": action = new Locked(); break;
            default: action = new HandedOver(); break;
        }
        Turns turns = new Turns();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> takeTurns(action, turns, number));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("all turns are over");
    }

    private static void takeTurns(Action action, Turns turns, int number) {
        try {
            for (int round = 0; round < ROUNDS; round++) {
                turns.await(2 * round + number);
                Thread.sleep(PAUSE_MILLISECONDS);
                action.act(number + 1);
                turns.done();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
