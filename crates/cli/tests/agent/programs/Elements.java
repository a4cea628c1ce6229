package torture;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Loops over arrays. With a number as its argument: random ones over an array that threads share, one loop after the other; starts and
 * joins order some of them, nothing orders the others. Each element is read and written at places of its own, so that races on
 * different elements are different findings. With `handed-over`: each thread has an array of its own, which
 * others filled before it was started or after they were joined.
 */
public final class Elements {
    private static final int WORKERS = 3;
    private static final int LENGTH = 8;

    private enum Kind {
        START,
        JOIN,
        WRITE_FORWARD,
        READ_BACKWARD,
        UPDATE_STRIDE,
        SEARCH,
        SHIFT,
        GATHER,
        FAIL
    }

    /** What a thread does in its turn. */
    private static final class Turn {
        final int thread;
        final Kind kind;
        final int[] array;
        final int from;
        final int to;
        final int worker;

        Turn(int thread, Kind kind, int[] array, int from, int to, int worker) {
            this.thread = thread;
            this.kind = kind;
            this.array = array;
            this.from = from;
            this.to = to;
            this.worker = worker;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments[0].equals("handed-over")) {
            handOver();
            return;
        }
        Random random = new Random(Long.parseLong(arguments[0]));
        new Round(plan(random)).execute();
    }

    /** Main starts and joins the workers; between that it and those that run take turns. */
    private static List<Turn> plan(Random random) {
        int[] array = new int[LENGTH];
        List<Turn> turns = new ArrayList<>();
        List<Integer> running = new ArrayList<>();
        int started = 0;
        while (started < WORKERS || !running.isEmpty()) {
            int choice = random.nextInt(8);
            if (choice == 0 && started < WORKERS) {
                running.add(++started);
                turns.add(new Turn(0, Kind.START, null, 0, 0, started));
            } else if (choice == 1 && !running.isEmpty()) {
                int worker = running.remove(random.nextInt(running.size()));
                turns.add(new Turn(0, Kind.JOIN, null, 0, 0, worker));
            } else {
                int at = random.nextInt(running.size() + 1);
                int thread = at == running.size() ? 0 : running.get(at);
                Kind kind = Kind.values()[2 + random.nextInt(Kind.values().length - 2)];
                int from = random.nextInt(LENGTH);
                int to = from + random.nextInt(LENGTH - from);
                turns.add(new Turn(thread, kind, array, from, to, 0));
            }
        }
        return turns;
    }

    private static final class Round {
        private final List<Turn> turns;
        private final Turns over = new Turns();
        private final Thread[] workers = new Thread[WORKERS + 1];

        Round(List<Turn> turns) {
            this.turns = turns;
        }

        private void execute() throws InterruptedException {
            for (int i = 1; i <= WORKERS; i++) {
                int number = i;
                workers[i] = new Thread(() -> act(number), "worker-" + number);
            }
            act(0);
        }

        private void act(int thread) {
            try {
                for (int i = 0; i < turns.size(); i++) {
                    Turn turn = turns.get(i);
                    if (turn.thread == thread) {
                        over.awaitPatiently(i);
                        take(turn);
                        over.done();
                    }
                }
            } catch (InterruptedException exception) {
                throw new IllegalStateException(exception);
            }
        }

        private void take(Turn turn) throws InterruptedException {
            switch (turn.kind) {
                case START:
                    workers[turn.worker].start();
                    break;
                case JOIN:
                    workers[turn.worker].join();
                    break;
                case WRITE_FORWARD:
                    writeForward(turn.array, turn.from, turn.to);
                    break;
                case READ_BACKWARD:
                    readBackward(turn.array, turn.from, turn.to);
                    break;
                case UPDATE_STRIDE:
                    updateStride(turn.array, turn.from, turn.to);
                    break;
                case SEARCH:
                    search(turn.array, turn.from);
                    break;
                case SHIFT:
                    shift(turn.array, turn.from, turn.to);
                    break;
                case GATHER:
                    gather(turn.array, turn.from, turn.to);
                    break;
                default:
                    fail(turn.array, turn.from);
            }
        }
    }

    private static int get(int[] array, int index) {
        switch (index) {
            case 0:
                return array[0];
            case 1:
                return array[1];
            case 2:
                return array[2];
            case 3:
                return array[3];
            case 4:
                return array[4];
            case 5:
                return array[5];
            case 6:
                return array[6];
            default:
                return array[index];
        }
    }

    private static void set(int[] array, int index, int value) {
        switch (index) {
            case 0:
                array[0] = value;
                break;
            case 1:
                array[1] = value;
                break;
            case 2:
                array[2] = value;
                break;
            case 3:
                array[3] = value;
                break;
            case 4:
                array[4] = value;
                break;
            case 5:
                array[5] = value;
                break;
            case 6:
                array[6] = value;
                break;
            default:
                array[index] = value;
        }
    }

    static void writeForward(int[] array, int from, int to) {
        for (int i = from; i < to; i++) {
            set(array, i, i);
        }
    }

    static int readBackward(int[] array, int from, int to) {
        int sum = 0;
        for (int i = to - 1; i >= from; i--) {
            sum += get(array, i);
        }
        return sum;
    }

    static void updateStride(int[] array, int from, int to) {
        for (int i = from; i < to; i += 3) {
            set(array, i, get(array, i) + 1);
        }
    }

    /** Leaves the loop somewhere. */
    static int search(int[] array, int from) {
        int i = from;
        while (i < array.length) {
            if (get(array, i) % 3 == 1) {
                break;
            }
            i++;
        }
        return i;
    }

    static void shift(int[] array, int from, int to) {
        for (int i = from; i + 1 < to; i++) {
            set(array, i, get(array, i + 1));
        }
    }

    static int gather(int[] array, int from, int to) {
        int sum = 0;
        for (int i = from; i < to; i++) {
            sum += get(array, Math.floorMod(get(array, i), array.length));
        }
        return sum;
    }

    /** Walks beyond the end. */
    static void fail(int[] array, int from) {
        try {
            for (int i = from; ; i++) {
                set(array, i, -i);
            }
        } catch (ArrayIndexOutOfBoundsException expected) {
            set(array, from, 0);
        }
    }

    private static void handOver() throws InterruptedException {
        int[][] arrays = new int[2][50_000];
        for (int[] array : arrays) {
            writeForward(array, 0, array.length);
        }
        for (int round = 0; round < 2; round++) {
            Thread[] workers = new Thread[arrays.length];
            for (int i = 0; i < workers.length; i++) {
                int[] array = arrays[(i + round) % arrays.length];
                workers[i] = new Thread(() -> {
                    readBackward(array, 0, array.length);
                    updateStride(array, 0, array.length);
                }, "worker-" + i);
                workers[i].start();
            }
            for (Thread worker : workers) {
                worker.join();
            }
        }
        for (int[] array : arrays) {
            readBackward(array, 0, array.length);
        }
    }
}
