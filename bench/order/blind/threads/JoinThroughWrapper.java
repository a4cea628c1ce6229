// Promise: JLS 17.4.5: all actions of a thread happen-before another thread returns from a join on it.
// Way: a class of one's own that hides the thread behind an interface.
// Bad twin: another implementation returns from its wait at once.
class JoinThroughWrapper {
    static class Cell {
        int value;
    }

    interface Task {
        void finish() throws Exception;
    }

    static class JoiningTask implements Task {
        private final Thread thread;

        JoiningTask(Runnable body) {
            thread = new Thread(body);
            thread.start();
        }

        @Override
        public void finish() throws Exception {
            thread.join();
        }
    }

    static class HastyTask implements Task {
        HastyTask(Runnable body) {
            new Thread(body).start();
        }

        @Override
        public void finish() {
            Pair.pause();
        }
    }

    static Runnable writer(Cell cell) {
        return () -> {
            for (int round = 0; round < 8; round++) {
                cell.value = 42;
                Pair.pause();
            }
        };
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Task task = new JoiningTask(writer(cell));
        task.finish();
        return cell.value;
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Task task = new HastyTask(writer(cell));
        task.finish();
        return Pair.repeatRead(() -> cell.value);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, JoinThroughWrapper::good, JoinThroughWrapper::bad);
    }
}
