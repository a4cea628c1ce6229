// Promise: JLS 17.4.5: happens-before is transitive: what comes before a start also comes before the threads that
// the started one starts.
// Way: a thread starts another, which reads what the grandparent wrote.
// Bad twin: the grandparent writes after it has started the first.
class StartChain {
    static class Cell {
        int value;
    }

    static int run(Cell cell, boolean early) throws Exception {
        Cell result = new Cell();
        Thread child = new Thread(() -> {
            Thread grandchild = new Thread(() -> {
                for (int round = 0; round < 5; round++) {
                    result.value = cell.value;
                    Pair.pause();
                }
            });
            grandchild.start();
            try {
                grandchild.join();
            } catch (InterruptedException stop) {
                throw new IllegalStateException(stop);
            }
        });
        if (early) {
            cell.value = 42;
        }
        child.start();
        if (!early) {
            for (int round = 0; round < 8; round++) {
                cell.value = 42;
                Pair.pause();
            }
        }
        child.join();
        return result.value;
    }

    static int good() throws Exception {
        return run(new Cell(), true);
    }

    static int bad() throws Exception {
        return run(new Cell(), false);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StartChain::good, StartChain::bad);
    }
}
