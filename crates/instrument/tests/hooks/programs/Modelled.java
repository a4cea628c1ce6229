/** A lock and a queue that models of the user describe. */
class Modelled {
    interface Gate {
        void enter();

        boolean tryEnter();

        void leave();
    }

    static class SpinGate implements Gate {
        private boolean taken;

        @Override
        public void enter() {
            taken = true;
        }

        @Override
        public boolean tryEnter() {
            boolean free = !taken;
            taken = true;
            return free;
        }

        @Override
        public void leave() {
            taken = false;
        }
    }

    /** Says nothing itself, and inherits everything. */
    static class QuietGate extends SpinGate {
    }

    static class Workers {
        private Runnable last;

        void hand(Runnable task) {
            last = task;
            task.run();
        }

        void awaitAll() {
            last = null;
        }
    }

    static class Settings {
        int size;
    }

    static int guarded;

    public static void main(String[] arguments) {
        Gate gate = new SpinGate();
        gate.enter();
        guarded++;
        gate.leave();
        SpinGate named = new SpinGate();
        System.out.println(named.tryEnter());
        System.out.println(named.tryEnter());
        named.leave();
        QuietGate quiet = new QuietGate();
        quiet.enter();
        quiet.leave();
        Workers workers = new Workers();
        workers.hand(new Thread());
        workers.awaitAll();
        Settings settings = new Settings();
        settings.size = 3;
        System.out.println(guarded + settings.size);
    }
}
