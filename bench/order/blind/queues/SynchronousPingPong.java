// Promise: BlockingQueue: actions before placing an object happen-before actions after its removal by another
// thread.
// Way: a cell goes to and fro between two threads through two fair SynchronousQueues.
// Bad twin: each thread adds to the cell also after it has given it away.
import java.util.concurrent.SynchronousQueue;

class SynchronousPingPong {
    static class Cell {
        int value;
    }

    static int play(boolean late) throws Exception {
        SynchronousQueue<Cell> there = new SynchronousQueue<>(true);
        SynchronousQueue<Cell> back = new SynchronousQueue<>(true);
        return Pair.together(() -> {
            Cell own = new Cell();
            for (int round = 0; round < 7; round++) {
                own.value += 3;
                there.put(own);
                if (late) {
                    Pair.repeat(() -> own.value += 3);
                }
                back.take();
            }
        }, () -> {
            int seen = 0;
            for (int round = 0; round < 7; round++) {
                Cell got = there.take();
                got.value += 3;
                seen = got.value;
                if (late) {
                    Pair.pause();
                    got.value += 3;
                }
                back.put(got);
            }
            return seen;
        });
    }

    static int good() throws Exception {
        return play(false);
    }

    static int bad() throws Exception {
        return play(true);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, SynchronousPingPong::good, SynchronousPingPong::bad);
    }
}
