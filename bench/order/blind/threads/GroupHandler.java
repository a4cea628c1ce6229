// Promise: ThreadGroup.uncaughtException is called in the thread that dies; JLS 17.4.5: its actions happen-before
// the return of join.
// Way: a subclass of ThreadGroup overrides the handler.
// Bad twin: two threads of the group die at once, and both handlers write.
class GroupHandler {
    static class Cell {
        int value;
    }

    static class Group extends ThreadGroup {
        final Cell cell = new Cell();

        Group() {
            super("counting");
        }

        @Override
        public void uncaughtException(Thread dying, Throwable failure) {
            for (int round = 0; round < 7; round++) {
                cell.value += 3;
                Pair.pause();
            }
        }

        Thread failing() {
            Thread thread = new Thread(this, () -> {
                throw new IllegalStateException("expected");
            });
            thread.start();
            return thread;
        }
    }

    static int good() throws Exception {
        Group group = new Group();
        group.failing().join();
        group.failing().join();
        return group.cell.value;
    }

    static int bad() throws Exception {
        Group group = new Group();
        Thread first = group.failing();
        Thread second = group.failing();
        first.join();
        second.join();
        return group.cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, GroupHandler::good, GroupHandler::bad);
    }
}
