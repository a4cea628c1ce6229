// Promise: JLS 17.4.5: happens-before is transitive: two monitors and a thread between them order the first with
// the last.
// Way: the writer unlocks one monitor, a third thread passes the news on through another.
// Bad twin: the third thread passes on the news through the second monitor before it looks into the first.
class MonitorChain {
    static class Cell {
        int value;
    }

    static class Flag {
        boolean raised;

        synchronized void raise() {
            raised = true;
        }

        synchronized boolean isRaised() {
            return raised;
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flag first = new Flag();
        Flag second = new Flag();
        Thread between = new Thread(() -> {
            while (!first.isRaised()) {
                Thread.yield();
            }
            second.raise();
        });
        between.start();
        return Pair.together(() -> {
            cell.value = 42;
            first.raise();
        }, () -> {
            Pair.until(second::isRaised);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flag first = new Flag();
        Flag second = new Flag();
        Thread between = new Thread(() -> {
            second.raise();
            while (!first.isRaised()) {
                Thread.yield();
            }
        });
        between.start();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            first.raise();
        }, () -> {
            Pair.until(second::isRaised);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorChain::good, MonitorChain::bad);
    }
}
