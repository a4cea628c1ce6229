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
        private final boolean waits;

        Order(boolean waits) {
            this.waits = waits;
        }

        @Override
        public String toString() {
            if (waits) {
                IN_APPENDER.countDown();
                pause(500);
            }
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

    /** With the argument 0 the threads run one after the other, and with 1 at the same time. */
    public static void main(String[] arguments) throws Exception {
        boolean isTogether = arguments[0].equals("1");
        WriterAppender appender = new WriterAppender(new PatternLayout(), new StringWriter());
        for (Category logger : new Category[] {ORDERS, STOCK}) {
            logger.addAppender(appender);
            logger.setAdditivity(false);
        }
        Thread orders = new Thread(() -> ORDERS.info(new Order(isTogether)), "orders");
        Thread stock = new Thread(() -> {
            // Without the latch nothing orders the two: one has long ended when the other one begins.
            pause(isTogether ? 0 : 1000);
            STOCK.info("taken");
        }, "stock");
        orders.start();
        if (isTogether) {
            IN_APPENDER.await();
        }
        stock.start();
        orders.join();
        stock.join();
    }
}
