package programs;

/** Philosophers around a table: they think, take two forks in the order that cannot deadlock, and eat. */
public final class Philosophers {
    private static final int SEATS = 5;

    public static void main(String[] arguments) throws InterruptedException {
        int meals = Measurement.size(arguments, 900_000);
        Measurement measurement = Measurement.begin();
        Table table = new Table(SEATS);
        Runnable[] guests = new Runnable[SEATS];
        for (int seat = 0; seat < SEATS; seat++) {
            guests[seat] = new Philosopher(table, seat, meals);
        }
        Measurement.runAll(guests);
        if (table.meals() != SEATS * meals) {
            throw new IllegalStateException("somebody has starved");
        }
        measurement.end(table.checksum());
    }

    private static final class Fork {
        private int uses;
        private long wear;

        /** Only whoever holds the fork may use it. */
        void use(int bites) {
            uses++;
            for (int i = 0; i < bites; i++) {
                wear += i ^ uses;
            }
        }
    }

    private static final class Table {
        private final Fork[] forks;
        private int meals;

        Table(int seats) {
            forks = new Fork[seats];
            for (int i = 0; i < seats; i++) {
                forks[i] = new Fork();
            }
        }

        Fork lowerFork(int seat) {
            return forks[Math.min(seat, (seat + 1) % forks.length)];
        }

        Fork upperFork(int seat) {
            return forks[Math.max(seat, (seat + 1) % forks.length)];
        }

        synchronized void countMeal() {
            meals++;
        }

        synchronized int meals() {
            return meals;
        }

        /** Asked when everybody has left. */
        long checksum() {
            long sum = 0;
            for (Fork fork : forks) {
                sum = Measurement.mix(sum, fork.uses);
                sum = Measurement.mix(sum, fork.wear);
            }
            return sum;
        }
    }

    private static final class Philosopher implements Runnable {
        private static final int BITES = 40;
        private final Table table;
        private final int seat;
        private final int meals;
        private long thought;

        Philosopher(Table table, int seat, int meals) {
            this.table = table;
            this.seat = seat;
            this.meals = meals;
        }

        @Override
        public void run() {
            Fork lower = table.lowerFork(seat);
            Fork upper = table.upperFork(seat);
            for (int i = 0; i < meals; i++) {
                think(i);
                synchronized (lower) {
                    synchronized (upper) {
                        lower.use(BITES);
                        upper.use(BITES);
                    }
                }
                table.countMeal();
            }
        }

        private void think(int about) {
            long idea = about;
            for (int i = 0; i < 300; i++) {
                idea = idea * 31 + seat;
            }
            thought ^= idea;
        }
    }
}
