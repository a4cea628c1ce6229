// Promise: JLS 17.4.5: happens-before is transitive: who joins the joiner comes after the joined.
// Way: a second thread joins the writer, and main joins the second.
// Bad twin: the second thread does not join the writer.
class JoinByThird {
    static class Cell {
        int value;
    }

    static int run(Cell cell, boolean joins) throws Exception {
        Thread writer = new Thread(() -> {
            for (int round = 0; round < 8; round++) {
                cell.value = 42;
                Pair.pause();
            }
        });
        writer.start();
        Thread second = new Thread(() -> {
            try {
                if (joins) {
                    writer.join();
                }
            } catch (InterruptedException stop) {
                throw new IllegalStateException(stop);
            }
        });
        second.start();
        second.join();
        return Pair.repeatRead(() -> cell.value);
    }

    static int good() throws Exception {
        return run(new Cell(), true);
    }

    static int bad() throws Exception {
        return run(new Cell(), false);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, JoinByThird::good, JoinByThird::bad);
    }
}
