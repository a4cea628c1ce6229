// Promise: JLS 17.4.4: starting a thread happens-before the first action of the started thread.
// Way: the body is a method reference, and so is the start.
// Bad twin: the object behind the method reference is changed after the start.
class StartMethodReference {
    static class Cell {
        int value;
    }

    static class Job {
        final Cell cell = new Cell();
        int seen;

        void work() {
            for (int round = 0; round < 5; round++) {
                seen = cell.value;
                Pair.pause();
            }
        }
    }

    static int good() throws Exception {
        Job job = new Job();
        Thread thread = new Thread(job::work);
        Runnable start = thread::start;
        job.cell.value = 42;
        start.run();
        thread.join();
        return job.seen;
    }

    static int bad() throws Exception {
        Job job = new Job();
        Thread thread = new Thread(job::work);
        Runnable start = thread::start;
        start.run();
        Pair.repeat(() -> job.cell.value = 42);
        thread.join();
        return job.seen;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, StartMethodReference::good, StartMethodReference::bad);
    }
}
