package programs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Prices an option by simulating many courses of the market; the threads share a queue of tasks and a list of results. */
public final class MonteCarlo {
    public static void main(String[] arguments) throws InterruptedException {
        int tasks = Measurement.size(arguments, 48_000);
        int threads = Measurement.threads(arguments);
        Measurement measurement = Measurement.begin();
        TaskQueue queue = new TaskQueue();
        for (int i = 0; i < tasks; i++) {
            queue.add(new Task(i));
        }
        Results results = new Results();
        Runnable[] workers = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(queue, results);
        }
        Measurement.runAll(workers);
        long checksum = 0;
        double sum = 0;
        for (Result result : results.inOrder()) {
            checksum = Measurement.mix(checksum, result.finalPrice);
            sum += result.payment;
        }
        measurement.end(Measurement.mix(checksum, sum / tasks));
    }

    /** One course of the market to simulate. */
    private static final class Task {
        private final int number;
        private final RandomStream random;

        Task(int number) {
            this.number = number;
            random = new RandomStream(number + 1);
        }

        Result perform() {
            PricePath path = new PricePath(100, 0.03, 0.2, 1000);
            while (!path.isOver()) {
                path.step(random.nextGaussian());
            }
            return new Result(number, path.price(), path.payment(105));
        }
    }

    /** A price that wanders. */
    private static final class PricePath {
        private final double drift;
        private final double swing;
        private final int steps;
        private double price;
        private double sum;
        private double highest;
        private int done;

        PricePath(double price, double rate, double volatility, int steps) {
            this.price = price;
            this.steps = steps;
            double time = 1.0 / steps;
            drift = (rate - volatility * volatility / 2) * time;
            swing = volatility * Math.sqrt(time);
        }

        boolean isOver() {
            return done == steps;
        }

        void step(double chance) {
            double change = drift + swing * chance;
            // The exponential function of a small number, by its series.
            price *= 1 + change * (1 + change / 2 * (1 + change / 3));
            sum += price;
            if (price > highest) {
                highest = price;
            }
            done++;
        }

        double price() {
            return price;
        }

        double payment(double strike) {
            return Math.max(0, sum / steps - strike) + highest / 1000;
        }
    }

    private static final class Result {
        private final int task;
        private final double finalPrice;
        private final double payment;

        Result(int task, double finalPrice, double payment) {
            this.task = task;
            this.finalPrice = finalPrice;
            this.payment = payment;
        }
    }

    private static final class TaskQueue {
        private final ArrayDeque<Task> waiting = new ArrayDeque<>();
        private int taken;

        synchronized void add(Task task) {
            waiting.addLast(task);
        }

        synchronized Task take() {
            taken++;
            return waiting.pollFirst();
        }
    }

    private static final class Results {
        private final List<Result> all = new ArrayList<>();

        synchronized void add(Result result) {
            all.add(result);
        }

        synchronized List<Result> inOrder() {
            List<Result> sorted = new ArrayList<>(all);
            sorted.sort(Comparator.comparingInt(result -> result.task));
            return sorted;
        }
    }

    private static final class Worker implements Runnable {
        private final TaskQueue queue;
        private final Results results;

        Worker(TaskQueue queue, Results results) {
            this.queue = queue;
            this.results = results;
        }

        @Override
        public void run() {
            for (Task task = queue.take(); task != null; task = queue.take()) {
                results.add(task.perform());
            }
        }
    }
}
