package programs.mutants;

import programs.NotAtomic;

/**
 * Clients borrow connections from a pool, run transactions on them and give them back. An auditor looks whether
 * everything adds up, and an administrator throws prepared statements away.
 */
public final class ConnectionPool {
    private static final int CONNECTIONS = 3;
    private static final int CLIENTS = 4;
    private static final int TRANSACTIONS = 8_000;
    private static final int STATEMENTS = 6;

    private ConnectionPool() {}

    public static void main(String[] arguments) throws InterruptedException {
        Server server = new Server();
        Runnable[] everybody = new Runnable[CLIENTS + 2];
        for (int i = 0; i < CLIENTS; i++) {
            everybody[i] = new Client(server, i);
        }
        everybody[CLIENTS] = new Auditor(server);
        everybody[CLIENTS + 1] = new Administrator(server);
        Crew.run(everybody);
        long committed = 0;
        for (Connection connection : server.connections) {
            committed += connection.commits;
        }
        Crew.expect("committed", CLIENTS * TRANSACTIONS, committed);
        Crew.expect("measured", CLIENTS * TRANSACTIONS, server.metrics.count);
        Crew.expect("lent", 0, server.pool.lent);
        Crew.expect("leases", 0, server.leases.active);
        Crew.expect("written", CLIENTS * TRANSACTIONS, server.journal.written);
    }

    /** Everything that the threads share. */
    private static final class Server {
        final Connection[] connections = new Connection[CONNECTIONS];
        final Pool pool = new Pool();
        final Leases leases = new Leases();
        final Metrics metrics = new Metrics();
        final Journal journal = new Journal();
        final Sessions sessions = new Sessions();
        final Turnstile turnstile = new Turnstile(CONNECTIONS);

        Server() {
            for (int i = 0; i < CONNECTIONS; i++) {
                connections[i] = new Connection();
                pool.giveBack(connections[i]);
            }
            pool.lent = 0;
        }
    }

    /** Numbers for whatever needs one. */
    private static final class Serials {
        private static int last;
        private static int given;

        static synchronized int next() {
            last += 3;
            given++;
            return last;
        }

        static synchronized boolean isSteady() {
            return last == 3 * given;
        }
    }

    /** A connection. Whoever has borrowed it uses it; the auditor and the administrator look in. */
    private static final class Connection {
        final StatementCache cache = new StatementCache();
        Connection next;
        private boolean isBusy;
        private int begun;
        private int commits;
        private int executed;
        private long checksum;

        synchronized void begin() {
            isBusy = true;
            begun++;
        }

        synchronized long execute(int statement) {
            executed++;
            checksum = checksum * 31 + statement;
            return checksum;
        }

        synchronized void commit() {
            isBusy = false;
            commits++;
        }

        /** Whether the counts fit together. */
        synchronized boolean isSane() {
            return begun == commits + (isBusy ? 1 : 0) && (executed > 0 || checksum == 0);
        }
    }

    /** Prepared statements, most recently used first. */
    private static final class StatementCache {
        private Statement first;
        private int size;
        private int hits;
        private int misses;

        synchronized Statement prepare(int key) {
            Statement before = null;
            for (Statement it = first; it != null; it = it.next) {
                if (it.key == key) {
                    if (before != null) {
                        before.next = it.next;
                        it.next = first;
                        first = it;
                    }
                    hits++;
                    return it;
                }
                before = it;
            }
            misses++;
            size++;
            first = new Statement(key, first);
            return first;
        }

        synchronized boolean forget(int key) {
            Statement before = null;
            for (Statement it = first; it != null; it = it.next) {
                if (it.key == key) {
                    if (before == null) {
                        first = it.next;
                    } else {
                        before.next = it.next;
                    }
                    size--;
                    return true;
                }
                before = it;
            }
            return false;
        }

        synchronized int quality() {
            return hits + misses == 0 ? 100 : 100 * hits / (hits + misses) - size;
        }
    }

    private static final class Statement {
        final int key;
        Statement next;

        Statement(int key, Statement next) {
            this.key = key;
            this.next = next;
        }
    }

    /** The connections that nobody has borrowed. */
    private static final class Pool {
        private Connection first;
        private int idle;
        private int lent;

        /** A connection, or null when all are lent. */
        synchronized Connection tryBorrow() {
            Connection connection = first;
            if (connection != null) {
                first = connection.next;
                connection.next = null;
                idle--;
                lent++;
            }
            return connection;
        }

        synchronized void giveBack(Connection connection) {
            connection.next = first;
            first = connection;
            idle++;
            lent--;
        }

        /** Puts the connection that was used last behind the others, so that all get old together. */
        synchronized void rotate() {
            if (first == null || first.next == null) {
                return;
            }
            Connection moved = first;
            first = moved.next;
            moved.next = null;
            Connection last = first;
            while (last.next != null) {
                last = last.next;
            }
            last.next = moved;
        }

        synchronized boolean isBalanced() {
            return idle + lent == CONNECTIONS && (first == null) == (idle == 0);
        }
    }

    /** Who has borrowed for how long, counted in transactions. */
    private static final class Leases {
        private final Object book = new Object();
        private int active;
        private int opened;
        private long clock;

        long open() {
            synchronized (book) {
                active++;
                opened++;
                return clock;
            }
        }

        long close(long since) {
            synchronized (book) {
                active--;
                clock++;
                return clock - since;
            }
        }

        long mean() {
            synchronized (book) {
                return opened == 0 ? clock : clock / opened + active;
            }
        }
    }

    /** How long transactions take. */
    private static final class Metrics {
        private int count;
        private long sum;
        private long longest;

        void record(long duration) {
            synchronized (this) {
                count++;
                sum += duration;
                if (duration > longest) {
                    longest = duration;
                }
            }
        }

        long mean() {
            synchronized (this) {
                return count == 0 ? longest : sum / count;
            }
        }

        /** Forgets outliers; the mean stays what it is. */
        void relax() {
            synchronized (this) {
                if (count > 0 && longest > 4 * (sum / count)) {
                    longest = sum / count;
                }
            }
        }
    }

    /** What was committed, until somebody takes it away. */
    private static final class Journal {
        private Entry last;
        private int length;
        private int written;

        synchronized void append(int serial) {
            last = new Entry(serial, last);
            length++;
            written++;
        }

        synchronized Entry takeAll() {
            Entry all = last;
            last = null;
            length = 0;
            return all;
        }

        synchronized boolean isLong() {
            return last != null && length > 100;
        }
    }

    private static final class Entry {
        final int serial;
        final Entry before;

        Entry(int serial, Entry before) {
            this.serial = serial;
            this.before = before;
        }
    }

    /** The sessions that are open, as a list in both directions. */
    private static final class Sessions {
        private Session first;
        private int open;
        private int highest;

        synchronized void enter(Session session) {
            session.next = first;
            session.before = null;
            if (first != null) {
                first.before = session;
            }
            first = session;
            open++;
            highest = Math.max(highest, open);
        }

        synchronized void leave(Session session) {
            if (session.before == null) {
                first = session.next;
            } else {
                session.before.next = session.next;
            }
            if (session.next != null) {
                session.next.before = session.before;
            }
            open--;
        }

        synchronized int busiest() {
            return open == 0 ? highest : Math.max(highest, open);
        }
    }

    private static final class Session {
        private Session next;
        private Session before;
    }

    /** Lets as many clients in as there are connections. */
    private static final class Turnstile {
        private int free;
        private int entered;

        Turnstile(int free) {
            this.free = free;
        }

        @NotAtomic
        synchronized void enter() throws InterruptedException {
            while (free == 0) {
                wait();
            }
            free--;
            entered++;
        }

        synchronized void leave() {
            free++;
            notify();
        }

        synchronized boolean isOver() {
            return free + entered == CONNECTIONS + CLIENTS * TRANSACTIONS;
        }
    }

    /** Somebody with much to do. */
    private static final class Client implements Runnable {
        private final Server server;
        private final Dice dice;
        private long seen;

        Client(Server server, int number) {
            this.server = server;
            this.dice = new Dice(number + 11);
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < TRANSACTIONS; i++) {
                    server.turnstile.enter();
                    transaction();
                    server.turnstile.leave();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void transaction() {
            Session session = new Session();
            server.sessions.enter(session);
            Connection connection = server.pool.tryBorrow();
            while (connection == null) {
                Thread.yield();
                connection = server.pool.tryBorrow();
            }
            long since = server.leases.open();
            connection.begin();
            for (int i = 0; i < 3; i++) {
                Statement statement = connection.cache.prepare(dice.roll(STATEMENTS));
                seen += connection.execute(statement.key);
            }
            connection.commit();
            server.journal.append(Serials.next());
            server.metrics.record(server.leases.close(since));
            server.pool.giveBack(connection);
            server.sessions.leave(session);
        }
    }

    /** Looks at everything, again and again. */
    private static final class Auditor implements Runnable {
        private final Server server;
        private long complaints;
        private long looked;

        Auditor(Server server) {
            this.server = server;
        }

        @Override
        public void run() {
            while (!server.turnstile.isOver()) {
                for (Connection connection : server.connections) {
                    complaints += connection.isSane() ? 0 : 1;
                    looked += connection.cache.quality();
                }
                complaints += server.pool.isBalanced() ? 0 : 1;
                complaints += Serials.isSteady() ? 0 : 1;
                looked += server.leases.mean() + server.metrics.mean() + server.sessions.busiest();
            }
            System.out.println(complaints == 0 ? "the auditor is content" : "the auditor complains");
        }
    }

    /** Keeps the server in shape. */
    private static final class Administrator implements Runnable {
        private final Server server;
        private final Dice dice = new Dice(99);
        private long archived;

        Administrator(Server server) {
            this.server = server;
        }

        @Override
        public void run() {
            while (!server.turnstile.isOver()) {
                server.connections[dice.roll(CONNECTIONS)].cache.forget(dice.roll(STATEMENTS));
                server.pool.rotate();
                server.metrics.relax();
                if (server.journal.isLong()) {
                    for (Entry it = server.journal.takeAll(); it != null; it = it.before) {
                        archived += it.serial;
                    }
                }
            }
            System.out.println("the administrator has finished");
        }
    }
}
