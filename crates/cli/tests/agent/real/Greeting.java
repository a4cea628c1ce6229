package real;

import org.apache.log4j.Category;
import org.apache.log4j.ConsoleAppender;
import org.apache.log4j.Logger;
import org.apache.log4j.PatternLayout;

/**
 * A message that logs something itself while it is turned into text: by then its appender is locked, and it wants the
 * category. Whoever logs has locked them the other way round.
 */
public final class Greeting {
    static final Category LOG = Logger.getLogger(Greeting.class);

    private final String name;

    private Greeting(String name) {
        this.name = name;
    }

    @Override
    public String toString() {
        LOG.debug("a greeting is written");
        return "hello " + name;
    }

    public static void main(String[] arguments) {
        LOG.addAppender(new ConsoleAppender(new PatternLayout()));
        for (int i = 0; i < 2; i++) {
            new Thread(() -> LOG.info(new Greeting("you"))).start();
        }
    }
}
