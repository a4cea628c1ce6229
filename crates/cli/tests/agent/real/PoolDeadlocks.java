package real;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.concurrent.CountDownLatch;
import org.apache.commons.dbcp.ConnectionFactory;
import org.apache.commons.dbcp.PoolableConnectionFactory;
import org.apache.commons.dbcp.PoolingDataSource;
import org.apache.commons.pool.BasePoolableObjectFactory;
import org.apache.commons.pool.impl.GenericKeyedObjectPoolFactory;
import org.apache.commons.pool.impl.GenericObjectPool;

/**
 * Deadlocks of commons-dbcp and commons-pool that their users have reported and whose reports say which threads hold what. The first
 * argument says which one. There is no database: connections and statements do nothing.
 */
public final class PoolDeadlocks {
    private PoolDeadlocks() {}

    private interface Body {
        void run() throws Exception;
    }

    private static Thread begin(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }, name);
        thread.start();
        return thread;
    }

    /** Something of JDBC that does nothing. */
    private static <T> T stub(Class<T> type, Runnable beforeIsClosed) {
        InvocationHandler handler = (self, method, arguments) -> {
            if (method.getName().equals("isClosed")) {
                beforeIsClosed.run();
            }
            Class<?> result = method.getReturnType();
            if (method.getName().equals("hashCode")) {
                return System.identityHashCode(self);
            } else if (method.getName().equals("equals")) {
                return self == arguments[0];
            } else if (result == PreparedStatement.class || result == Statement.class) {
                return stub(result, () -> { });
            }
            return result == boolean.class ? (Object) false : result == int.class ? (Object) 0 : null;
        };
        return type.cast(Proxy.newProxyInstance(PoolDeadlocks.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "DBCP-65":
                statements();
                break;
            case "DBCP-270":
                evictor();
                break;
            default:
                factory();
        }
    }

    /** All statements are in use, and who waits for one holds the lock without which none is given back. */
    private static void statements() throws Exception {
        GenericObjectPool pool = new GenericObjectPool(null, 8);
        ConnectionFactory connections = () -> stub(Connection.class, () -> { });
        new PoolableConnectionFactory(connections, pool, new GenericKeyedObjectPoolFactory(null, 1), null, false, true);
        Connection connection = new PoolingDataSource(pool).getConnection();
        PreparedStatement first = connection.prepareStatement("select 1");
        Thread second = begin("second", () -> connection.prepareStatement("select 1"));
        while (second.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        Thread owner = begin("owner", first::close);
        second.join();
        owner.join();
    }

    /** A connection is closed once more while the thread that evicts idle ones looks whether it still works. */
    private static void evictor() throws Exception {
        CountDownLatch looks = new CountDownLatch(1);
        boolean[] isIdle = new boolean[1];
        Runnable pause = () -> {
            if (isIdle[0]) {
                looks.countDown();
                sleep(300);
            }
        };
        GenericObjectPool pool = new GenericObjectPool(null, 8);
        pool.setTestWhileIdle(true);
        ConnectionFactory connections = () -> stub(Connection.class, pause);
        new PoolableConnectionFactory(connections, pool, null, "select 1", false, true);
        Connection connection = (Connection) pool.borrowObject();
        connection.close();
        isIdle[0] = true;
        Thread owner = begin("owner", () -> {
            looks.await();
            connection.close();
        });
        pool.setTimeBetweenEvictionRunsMillis(20);
        owner.join();
        pool.close();
    }

    private static void sleep(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    /** A factory with a lock of its own makes objects under the lock of the pool, and gives them back under its own. */
    private static void factory() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        class Factory extends BasePoolableObjectFactory {
            private GenericObjectPool pool;
            private volatile boolean meets;

            @Override
            public Object makeObject() throws Exception {
                if (meets) {
                    both.countDown();
                    both.await();
                }
                synchronized (this) {
                    return new Object();
                }
            }

            synchronized void giveBack(Object borrowed) throws Exception {
                both.countDown();
                both.await();
                pool.returnObject(borrowed);
            }
        }
        Factory factory = new Factory();
        factory.pool = new GenericObjectPool(factory, 8);
        Object borrowed = factory.pool.borrowObject();
        factory.meets = true;
        Thread borrower = begin("borrower", () -> factory.pool.borrowObject());
        Thread owner = begin("owner", () -> factory.giveBack(borrowed));
        borrower.join();
        owner.join();
    }
}
