package programs;

import java.util.ArrayDeque;

/** The shortest round trip, by branch and bound: the threads share a queue of half-made trips and the best length so far. */
public final class Tsp {
    public static void main(String[] arguments) throws InterruptedException {
        int cities = Measurement.size(arguments, 18);
        int threads = Measurement.threads(arguments);
        DistanceTable table = new DistanceTable(cities, new RandomStream(107));
        Measurement measurement = Measurement.begin();
        Best best = new Best(table.greedyLength());
        TripQueue queue = new TripQueue();
        queue.fill(new Trip(table), 4);
        Runnable[] workers = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(table, queue, best);
        }
        Measurement.runAll(workers);
        measurement.end(best.length());
    }

    /** The distances between all cities; never changed once it is made. */
    private static final class DistanceTable {
        private final int cities;
        private final int[][] distances;
        private final int[] shortest;

        DistanceTable(int cities, RandomStream random) {
            this.cities = cities;
            int[] x = new int[cities];
            int[] y = new int[cities];
            for (int i = 0; i < cities; i++) {
                x[i] = random.nextInt(10_000);
                y[i] = random.nextInt(10_000);
            }
            distances = new int[cities][cities];
            shortest = new int[cities];
            for (int i = 0; i < cities; i++) {
                shortest[i] = Integer.MAX_VALUE;
                for (int j = 0; j < cities; j++) {
                    distances[i][j] = (int) Math.round(Math.hypot(x[i] - x[j], y[i] - y[j]));
                    if (i != j) {
                        shortest[i] = Math.min(shortest[i], distances[i][j]);
                    }
                }
            }
        }

        int between(int one, int other) {
            return distances[one][other];
        }

        int shortestFrom(int city) {
            return shortest[city];
        }

        /** A trip that always goes to the nearest city. */
        int greedyLength() {
            Trip trip = new Trip(this);
            while (!trip.isComplete()) {
                int nearest = -1;
                for (int city = 0; city < cities; city++) {
                    if (!trip.visits(city)
                            && (nearest < 0 || between(trip.last(), city) < between(trip.last(), nearest))) {
                        nearest = city;
                    }
                }
                trip.add(nearest);
            }
            return trip.roundLength();
        }
    }

    /** Cities in their order. Belongs to one thread at a time. */
    private static final class Trip {
        private final DistanceTable table;
        private final int[] cities;
        private int count;
        private int visited;
        private int length;
        private int bound;

        Trip(DistanceTable table) {
            this.table = table;
            cities = new int[table.cities];
            count = 1;
            visited = 1;
            for (int city = 0; city < table.cities; city++) {
                bound += table.shortestFrom(city);
            }
        }

        Trip(Trip other) {
            table = other.table;
            cities = other.cities.clone();
            count = other.count;
            visited = other.visited;
            length = other.length;
            bound = other.bound;
        }

        boolean visits(int city) {
            return (visited & 1 << city) != 0;
        }

        boolean isComplete() {
            return count == cities.length;
        }

        int last() {
            return cities[count - 1];
        }

        void add(int city) {
            int from = last();
            int way = table.between(from, city);
            length += way;
            bound += way - table.shortestFrom(from);
            cities[count++] = city;
            visited |= 1 << city;
        }

        void removeLast() {
            int city = last();
            count--;
            visited &= ~(1 << city);
            int from = last();
            int way = table.between(from, city);
            length -= way;
            bound -= way - table.shortestFrom(from);
        }

        /** No completion is shorter than this. */
        int bound() {
            return bound;
        }

        int roundLength() {
            return length + table.between(last(), cities[0]);
        }
    }

    /** Half-made trips that nobody works on yet. */
    private static final class TripQueue {
        private final ArrayDeque<Trip> waiting = new ArrayDeque<>();

        /** All beginnings with that many cities. */
        void fill(Trip trip, int depth) {
            if (trip.count == depth) {
                put(new Trip(trip));
                return;
            }
            for (int city = 1; city < trip.cities.length; city++) {
                if (!trip.visits(city)) {
                    trip.add(city);
                    fill(trip, depth);
                    trip.removeLast();
                }
            }
        }

        synchronized void put(Trip trip) {
            waiting.addLast(trip);
        }

        synchronized Trip take() {
            return waiting.pollFirst();
        }
    }

    /** The shortest length that any thread has found. */
    private static final class Best {
        private volatile int length;

        Best(int length) {
            this.length = length;
        }

        int length() {
            return length;
        }

        synchronized void improve(int candidate) {
            if (candidate < length) {
                length = candidate;
            }
        }
    }

    private static final class Worker implements Runnable {
        private final DistanceTable table;
        private final TripQueue queue;
        private final Best best;

        Worker(DistanceTable table, TripQueue queue, Best best) {
            this.table = table;
            this.queue = queue;
            this.best = best;
        }

        @Override
        public void run() {
            for (Trip trip = queue.take(); trip != null; trip = queue.take()) {
                search(trip);
            }
        }

        private void search(Trip trip) {
            if (trip.bound() >= best.length()) {
                return;
            }
            if (trip.isComplete()) {
                int length = trip.roundLength();
                if (length < best.length()) {
                    best.improve(length);
                }
                return;
            }
            for (int city = 1; city < table.cities; city++) {
                if (!trip.visits(city)) {
                    trip.add(city);
                    search(trip);
                    trip.removeLast();
                }
            }
        }
    }
}
