// Promise: Timer: one thread executes all tasks of a timer, one after the other (JLS 17.4.5, program order).
// Way: a periodic task adds to a cell in each round; the last round raises a volatile flag.
// Bad twin: main reads without waiting for the flag.
import java.util.Timer;
import java.util.TimerTask;

class TimerPeriodic {
    static class Cell {
        int value;
    }

    static class Rounds extends TimerTask {
        final Cell cell = new Cell();
        volatile boolean enough;

        @Override
        public void run() {
            cell.value += 7;
            if (cell.value == 42) {
                cancel();
                enough = true;
            }
        }
    }

    static int good() throws Exception {
        Timer timer = new Timer(true);
        Rounds rounds = new Rounds();
        timer.schedule(rounds, 0, 1);
        Pair.until(() -> rounds.enough);
        timer.cancel();
        return rounds.cell.value;
    }

    static int bad() throws Exception {
        Timer timer = new Timer(true);
        Rounds rounds = new Rounds();
        timer.schedule(rounds, 0, 1);
        int seen = Pair.repeatRead(() -> rounds.cell.value);
        timer.cancel();
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, TimerPeriodic::good, TimerPeriodic::bad);
    }
}
