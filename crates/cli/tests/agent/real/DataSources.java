package real;

import java.util.concurrent.atomic.AtomicInteger;
import javax.naming.CompositeName;
import javax.naming.Reference;
import org.apache.commons.dbcp.datasources.SharedPoolDataSource;
import org.apache.commons.dbcp.datasources.SharedPoolDataSourceFactory;

/**
 * DBCP-369: two threads look up the same data source. `InstanceKeyObjectFactory` keeps all of them in a
 * `HashMap` that most of its methods use without a lock. Goes on until both threads have made one of their own
 * a few times, or for as many rounds as it is told.
 */
public class DataSources {
    private static final int ENOUGH = 5;

    private static Object lookUp(AtomicInteger waiting, String name) throws Exception {
        Reference reference = new Reference(SharedPoolDataSource.class.getName());
        SharedPoolDataSourceFactory factory = new SharedPoolDataSourceFactory();
        waiting.decrementAndGet();
        while (waiting.get() > 0) {
            Thread.onSpinWait();
        }
        return factory.getObjectInstance(reference, new CompositeName(name), null, null);
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        int seen = 0;
        for (int round = 0; round < rounds && seen < ENOUGH; round++) {
            AtomicInteger waiting = new AtomicInteger(2);
            Object[] found = new Object[1];
            Thread other = new Thread(() -> {
                try {
                    found[0] = lookUp(waiting, "jdbc/pool");
                } catch (Exception exception) {
                    throw new IllegalStateException(exception);
                }
            });
            other.start();
            Object own = lookUp(waiting, "jdbc/pool");
            other.join();
            if (own != found[0]) {
                seen++;
            }
            SharedPoolDataSourceFactory.closeAll();
        }
    }
}
