// Promise: JLS 17.4.5: happens-before is transitive over several volatile fields and threads.
// Way: three threads, two flags.
// Bad twin: the thread between raises the second flag without having read the first.
class VolatileChain {
    static class Cell {
        int value;
    }

    static class Flags {
        volatile boolean first;
        volatile boolean second;
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Flags flags = new Flags();
        new Thread(() -> {
            while (!flags.first) {
                Thread.yield();
            }
            flags.second = true;
        }).start();
        return Pair.together(() -> {
            cell.value = 42;
            flags.first = true;
        }, () -> {
            Pair.until(() -> flags.second);
            return cell.value;
        });
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Flags flags = new Flags();
        new Thread(() -> flags.second = true).start();
        return Pair.together(() -> {
            Pair.repeat(() -> cell.value = 42);
            flags.first = true;
        }, () -> {
            Pair.until(() -> flags.second);
            return Pair.repeatRead(() -> cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, VolatileChain::good, VolatileChain::bad);
    }
}
