package torture;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Small random programs whose threads acquire and release locks, all at the same time. Each thread notes what it holds and wants. When
 * nothing moves any more, the threads that wait for each other in a cycle are printed, a program a line.
 */
public class RandomLocks {
    private static final int PROGRAMS = 120;
    private static final int LOCKS = 3;
    /** How long threads need to come to a stop, and the watchdog to see that. */
    private static final int LONG = 3_000;

    /** A monitor or a lock of the library, and who has it. */
    private static class Resource {
        final Lock lock;
        volatile Worker holder;

        Resource(Lock lock) {
            this.lock = lock;
        }
    }

    private static class Worker extends Thread {
        private final List<int[]> script;
        private final Resource[] resources;
        private final Random random;
        volatile Resource wanted;

        Worker(String name, List<int[]> script, Resource[] resources, long seed) {
            super(name);
            this.script = script;
            this.resources = resources;
            random = new Random(seed);
            setDaemon(true);
        }

        @Override
        public void run() {
            for (int[] nested : script) {
                enter(nested, 0);
            }
        }

        private void enter(int[] nested, int depth) {
            if (depth == nested.length) {
                return;
            }
            Resource resource = resources[nested[depth]];
            wanted = resource;
            if (resource.lock == null) {
                synchronized (resource) {
                    hold(resource, nested, depth);
                }
            } else {
                resource.lock.lock();
                try {
                    hold(resource, nested, depth);
                } finally {
                    resource.lock.unlock();
                }
            }
        }

        private void hold(Resource resource, int[] nested, int depth) {
            wanted = null;
            resource.holder = this;
            try {
                Thread.sleep(random.nextInt(3));
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            enter(nested, depth + 1);
            resource.holder = null;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(Long.parseLong(arguments[0]));
        List<List<Worker>> programs = new ArrayList<>();
        for (int program = 0; program < PROGRAMS; program++) {
            Resource[] resources = new Resource[LOCKS];
            for (int i = 0; i < LOCKS; i++) {
                resources[i] = new Resource(random.nextBoolean() ? new ReentrantLock() : null);
            }
            List<Worker> workers = new ArrayList<>();
            for (int thread = 0; thread < 2 + random.nextInt(2); thread++) {
                List<int[]> script = new ArrayList<>();
                for (int i = 0; i <= random.nextInt(3); i++) {
                    script.add(nested(random));
                }
                workers.add(new Worker("p" + program + "t" + thread, script, resources, random.nextLong()));
            }
            programs.add(workers);
        }
        programs.forEach(workers -> workers.forEach(Thread::start));
        Thread.sleep(LONG);
        for (List<Worker> workers : programs) {
            TreeSet<String> cycle = new TreeSet<>();
            for (Worker worker : workers) {
                if (isInCycle(worker)) {
                    cycle.add(worker.getName());
                }
            }
            if (!cycle.isEmpty()) {
                System.out.println(String.join(" ", cycle));
            }
        }
    }

    /** One to three locks, in any order. */
    private static int[] nested(Random random) {
        int[] all = {0, 1, 2};
        for (int i = 2; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int swapped = all[i];
            all[i] = all[other];
            all[other] = swapped;
        }
        return java.util.Arrays.copyOf(all, 1 + random.nextInt(LOCKS));
    }

    private static boolean isInCycle(Worker start) {
        Worker at = start;
        for (int steps = 0; steps < LOCKS + 1; steps++) {
            Resource wanted = at.wanted;
            at = wanted == null ? null : wanted.holder;
            if (at == null || at == start) {
                return at == start;
            }
        }
        return false;
    }
}
