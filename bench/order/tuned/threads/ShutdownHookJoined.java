// alone: ends its JVM
// Promise: Runtime.exit starts all registered hooks; JLS 17.4.5: a join in one hook orders what another hook did.
// Way: one hook is a thread that the other hook joins.
// Bad twin: the second hook does not join the first; hooks run in no order.
class ShutdownHookJoined {
    static class Cell {
        int value;
    }

    static void exitWith(Cell cell, String version, boolean joins) {
        Thread writer = new Thread(() -> {
            for (int round = 0; round < 5; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        Thread reader = new Thread(() -> {
            try {
                if (joins) {
                    Pair.until(() -> writer.getState() != Thread.State.NEW);
                    writer.join();
                }
                int seen = Pair.repeatRead(() -> cell.value);
                System.out.println(version + " " + seen);
                if (joins && seen != 42) {
                    Runtime.getRuntime().halt(1);
                }
            } catch (Exception failure) {
                Runtime.getRuntime().halt(1);
            }
        });
        Runtime.getRuntime().addShutdownHook(writer);
        Runtime.getRuntime().addShutdownHook(reader);
        System.exit(0);
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        exitWith(cell, "good", true);
        return 0;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        exitWith(cell, "bad", false);
        return 0;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ShutdownHookJoined::good, ShutdownHookJoined::bad);
    }
}
