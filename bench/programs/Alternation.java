package programs;

/** Two threads that take turns. That is the order of one run: nothing but a flag makes it. */
final class Alternation {
    /** Each of the two has that many turns. */
    private static final int TURNS = 5;
    private volatile int turn;

    /** In each turn a thread does its task that many times. */
    @NotAtomic
    static void run(int times, Runnable first, Runnable second) throws InterruptedException {
        Alternation alternation = new Alternation();
        Measurement.runAll(new Runnable[] {
            () -> alternation.takeTurns(0, times, first), () -> alternation.takeTurns(1, times, second)});
    }

    @NotAtomic
    private void takeTurns(int number, int times, Runnable task) {
        for (int mine = number; mine < 2 * TURNS; mine += 2) {
            while (turn != mine) {
                try {
                    Thread.sleep(1);
                } catch (InterruptedException exception) {
                    throw new IllegalStateException(exception);
                }
            }
            for (int time = 0; time < times; time++) {
                task.run();
            }
            turn = mine + 1;
        }
    }
}
