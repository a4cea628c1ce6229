package real;

import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;

/** Threads that log, each to a logger with an appender, so that nobody has to be warned that there is none. */
public class Warnings {
    /** Takes every event and forgets it. */
    static class Forgetting extends AppenderSkeleton {
        @Override
        protected void append(LoggingEvent event) {
        }

        @Override
        public void close() {
        }

        @Override
        public boolean requiresLayout() {
            return false;
        }
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Thread[] writers = new Thread[2];
        for (int number = 0; number < writers.length; number++) {
            Logger logger = Logger.getLogger("writer" + number);
            logger.addAppender(new Forgetting());
            writers[number] = new Thread(() -> {
                for (int round = 0; round < rounds; round++) {
                    logger.warn("round " + round);
                }
            });
        }
        for (Thread writer : writers) {
            writer.start();
        }
        for (Thread writer : writers) {
            writer.join();
        }
    }
}
