package real;

import java.io.StringWriter;
import java.util.concurrent.CountDownLatch;
import org.apache.log4j.Category;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;
import org.apache.log4j.WriterAppender;

/**
 * Two loggers share an appender, and a message of the one logs to the other while it is turned into text: its thread has locked the
 * appender and wants that logger, whose thread has locked the logger and wants the appender.
 */
public final class SharedAppender {
    static final Category ORDERS = Logger.getLogger("orders");
    static final Category STOCK = Logger.getLogger("stock");
    private static final CountDownLatch IN_APPENDER = new CountDownLatch(1);

    private static final class Order {
        @Override
        public String toString() {
            IN_APPENDER.countDown();
            pause(500);
            STOCK.info("looked up");
            return "an order";
        }
    }

    private static void pause(int time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    public static void main(String[] arguments) throws Exception {
        WriterAppender appender = new WriterAppender(new PatternLayout(), new StringWriter());
        for (Category logger : new Category[] {ORDERS, STOCK}) {
            logger.addAppender(appender);
            logger.setAdditivity(false);
        }
        Thread orders = new Thread(() -> ORDERS.info(new Order()), "orders");
        Thread stock = new Thread(() -> STOCK.info("taken"), "stock");
        orders.start();
        IN_APPENDER.await();
        stock.start();
        orders.join();
        stock.join();
    }
}
