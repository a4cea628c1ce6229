package servers;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A small shop: sessions with a basket, a cache of articles that forgets the eldest, a pool of connections to a store, and
 * answers in JSON. It is correctly synchronized, in the ways that services are.
 */
final class Application {
    private static final int ARTICLES = 500;
    private static final int CACHED = 200;

    private final Map<String, Session> sessions = new ConcurrentHashMap<>();
    private final Cache cache = new Cache();
    private final BlockingQueue<Connection> pool = new ArrayBlockingQueue<>(4);
    private final AtomicLong answered = new AtomicLong();

    Application() {
        for (int i = 0; i < 4; i++) {
            pool.add(new Connection());
        }
    }

    /** The answer to a request: who asks, and for which article. */
    String answer(String user, int article) throws InterruptedException {
        Session session = sessions.computeIfAbsent(user, Session::new);
        Article found = cache.find(article % ARTICLES, this::load);
        List<Article> basket = session.add(found);
        StringBuilder json = new StringBuilder(256);
        json.append("{\"user\":\"").append(user).append("\",\"basket\":[");
        long total = 0;
        for (Article each : basket) {
            if (total > 0) {
                json.append(',');
            }
            json.append("{\"name\":\"").append(each.name).append("\",\"price\":").append(each.price).append('}');
            total += each.price;
        }
        json.append("],\"total\":").append(total).append('}');
        answered.incrementAndGet();
        return json.toString();
    }

    private Article load(int number) {
        try {
            Connection connection = pool.take();
            try {
                return connection.read(number);
            } finally {
                pool.put(connection);
            }
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    /** What nobody changes. */
    private static final class Article {
        private final String name;
        private final int price;

        Article(String name, int price) {
            this.name = name;
            this.price = price;
        }
    }

    /** The last articles that a user has looked at. */
    private static final class Session {
        private final String user;
        private final List<Article> basket = new ArrayList<>();
        private int requests;

        Session(String user) {
            this.user = user;
        }

        synchronized List<Article> add(Article article) {
            requests++;
            basket.add(article);
            if (basket.size() > 5) {
                basket.remove(0);
            }
            return new ArrayList<>(basket);
        }

        @Override
        public synchronized String toString() {
            return user + ", " + requests + " requests";
        }
    }

    /** Forgets what was not asked for longest. */
    private static final class Cache {
        private final Map<Integer, Article> entries = new LinkedHashMap<>(16, 0.75f, true);
        private int misses;

        Article find(int number, java.util.function.IntFunction<Article> load) {
            synchronized (this) {
                Article known = entries.get(number);
                if (known != null) {
                    return known;
                }
                misses++;
            }
            Article loaded = load.apply(number);
            synchronized (this) {
                entries.put(number, loaded);
                if (entries.size() > CACHED) {
                    entries.remove(entries.keySet().iterator().next());
                }
                return loaded;
            }
        }
    }

    /** One user at a time: the pool sees to that. */
    private static final class Connection {
        private final byte[] buffer = new byte[64];
        private int reads;

        Article read(int number) {
            reads++;
            for (int i = 0; i < buffer.length; i++) {
                buffer[i] = (byte) ('a' + (number * 31 + i) % 26);
            }
            return new Article(new String(buffer, 0, 8 + number % 8, java.nio.charset.StandardCharsets.US_ASCII), 1 + number % 97);
        }
    }
}
