package programs;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;

/**
 * Threads follow the links of a made-up web from page to page. What they have in common has locks, but for what they do not
 * do in this run: no page is moved, none is broken, nobody cancels.
 */
public final class Crawler {
    public static void main(String[] arguments) throws InterruptedException {
        int pages = Measurement.size(arguments, 100_000);
        int threads = Measurement.threads(arguments);
        Web web = new Web(pages);
        Search search = new Search(web, new Settings(pages + 1, false));
        search.offer(0);
        Measurement measurement = Measurement.begin();
        Runnable[] workers = new Runnable[threads];
        for (int number = 0; number < threads; number++) {
            workers[number] = new Worker(search);
        }
        Measurement.runAll(workers);
        measurement.end(search.checksum());
    }

    /** Pages and their links, which are computed and never change. */
    private static final class Web {
        private static final int LINKS = 6;
        private final int pages;

        Web(int pages) {
            this.pages = pages;
        }

        int[] links(int page) {
            int[] links = new int[LINKS];
            RandomStream random = new RandomStream(page + 1);
            for (int link = 0; link < LINKS; link++) {
                links[link] = random.nextInt(pages);
            }
            return links;
        }

        int bytes(int page) {
            return 1000 + page % 777;
        }

        boolean isMoved(int page) {
            return page < 0;
        }

        boolean isBroken(int page) {
            return page >= pages;
        }
    }

    private static final class Settings {
        private final int mostPages;
        private final boolean isVerbose;

        Settings(int mostPages, boolean isVerbose) {
            this.mostPages = mostPages;
            this.isVerbose = isVerbose;
        }
    }

    /** What was seen, what is to be visited, and who is at it. */
    private static final class Search {
        private final Web web;
        private final Settings settings;
        private final Set<Integer> seen = new HashSet<>();
        private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
        private final Statistics statistics = new Statistics();
        private int busy;
        private boolean isCancelled;
        private String lastProblem;

        Search(Web web, Settings settings) {
            this.web = web;
            this.settings = settings;
        }

        synchronized boolean offer(int page) {
            if (seen.size() < settings.mostPages && seen.add(page)) {
                waiting.addLast(page);
                notifyAll();
                return true;
            }
            return false;
        }

        /** A page to visit, or a negative number when there is none any more. */
        @NotAtomic
        synchronized int take() throws InterruptedException {
            while (waiting.isEmpty() && busy > 0 && !isCancelled) {
                wait();
            }
            if (waiting.isEmpty() || isCancelled) {
                notifyAll();
                return -1;
            }
            busy++;
            return waiting.pollFirst();
        }

        synchronized void done() {
            busy--;
            notifyAll();
        }

        /** Without the lock: two problems at a time, and one of them is lost. */
        void visit(int page) {
            if (web.isBroken(page)) {
                lastProblem = lastProblem == null ? "page " + page : lastProblem + ", page " + page;
                statistics.countProblem();
                return;
            }
            if (web.isMoved(page)) {
                statistics.countMoved(web.bytes(page));
            } else {
                statistics.count(web.bytes(page));
            }
            for (int link : web.links(page)) {
                offer(link);
            }
            if (settings.isVerbose) {
                statistics.noteLength(seen.size());
            }
        }

        synchronized void cancel(String reason) {
            isCancelled = true;
            lastProblem = reason;
            notifyAll();
        }

        synchronized long checksum() {
            long sum = 0;
            for (int page : seen) {
                sum += Measurement.mix(7, page);
            }
            return sum + statistics.bytes() + (lastProblem == null ? 0 : 1);
        }
    }

    /** Some counters have the lock, and some were forgotten. */
    private static final class Statistics {
        private long bytes;
        private int pages;
        private int moved;
        private int problems;
        private int longest;

        synchronized void count(int length) {
            bytes += length;
            pages++;
        }

        void countMoved(int length) {
            moved++;
            count(length);
        }

        synchronized void countProblem() {
            problems++;
        }

        void noteLength(int length) {
            if (length > longest) {
                longest = length;
            }
        }

        synchronized long bytes() {
            return bytes + pages + moved + problems + longest;
        }
    }

    private static final class Worker implements Runnable {
        private final Search search;

        Worker(Search search) {
            this.search = search;
        }

        @Override
        public void run() {
            try {
                for (int page = search.take(); page >= 0; page = search.take()) {
                    search.visit(page);
                    search.done();
                }
            } catch (InterruptedException exception) {
                search.cancel("interrupted");
            }
        }
    }
}
