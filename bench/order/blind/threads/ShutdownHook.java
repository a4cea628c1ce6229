// alone: ends its JVM
// Promise: Runtime.exit starts the shutdown hooks; JLS 17.4.4: what the starting thread did before a start happens-
// before the started thread.
// Way: main writes and calls System.exit; the hook reads and prints.
// Bad twin: a daemon thread writes while the hook reads.
class ShutdownHook {
    static class Cell {
        int value;
    }

    static void exitWith(Cell cell, String version) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            int seen = 0;
            for (int round = 0; round < 5; round++) {
                seen = cell.value;
                Pair.pause();
            }
            System.out.println(version + " " + seen);
            if (version.equals("good") && seen != 42) {
                Runtime.getRuntime().halt(1);
            }
        }));
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        exitWith(cell, "good");
        cell.value = 42;
        System.exit(0);
        return 0;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        exitWith(cell, "bad");
        Thread writer = new Thread(() -> {
            for (int round = 0; round < 50; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        writer.setDaemon(true);
        writer.start();
        System.exit(0);
        return 0;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ShutdownHook::good, ShutdownHook::bad);
    }
}
