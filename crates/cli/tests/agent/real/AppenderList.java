package real;

import org.apache.log4j.Appender;
import org.apache.log4j.Logger;
import org.apache.log4j.varia.NullAppender;

/**
 * Bug 54325 of log4j: a logger is asked whether an appender is attached while all its appenders are removed.
 * `Category.isAttached` takes no lock, and what it asks of the list of appenders takes several looks. Goes on
 * until what was there at one look has been gone at the next often enough, or for as many rounds as it is told.
 */
public class AppenderList {
    private static final int ENOUGH = 50;

    private static volatile boolean isOver;

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Logger logger = Logger.getLogger("real");
        Appender appender = new NullAppender();
        logger.addAppender(appender);
        Thread changing = new Thread(() -> {
            for (int round = 0; round < rounds && !isOver; round++) {
                logger.removeAllAppenders();
                logger.addAppender(appender);
            }
            isOver = true;
        });
        changing.start();
        int seen = 0;
        while (!isOver && seen < ENOUGH) {
            try {
                logger.isAttached(appender);
            } catch (NullPointerException | ArrayIndexOutOfBoundsException gone) {
                seen++;
            }
        }
        isOver = true;
        changing.join();
    }
}
