package real;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.log4j.AsyncAppender;
import org.apache.log4j.FileAppender;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.MDC;
import org.apache.log4j.NDC;
import org.apache.log4j.PatternLayout;

/** Threads log as fast as they can to a file, directly and through a queue; every line must arrive once. */
public class Logging {
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        int messages = Integer.parseInt(arguments[1]);
        String pattern = "%-5p %c{1} %x %X{user} %t - %m%n";
        Path direct = folder.resolve("direct.log");
        Path queued = folder.resolve("queued.log");
        Logger logger = Logger.getLogger("real.direct");
        logger.setAdditivity(false);
        logger.setLevel(Level.INFO);
        logger.addAppender(new FileAppender(new PatternLayout(pattern), direct.toString(), false));
        AsyncAppender queue = new AsyncAppender();
        queue.setBufferSize(64);
        queue.addAppender(new FileAppender(new PatternLayout(pattern), queued.toString(), false));
        Logger other = Logger.getLogger("real.queued");
        other.setAdditivity(false);
        other.addAppender(queue);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                NDC.push("context" + number);
                MDC.put("user", "user" + number);
                for (int j = 0; j < messages; j++) {
                    logger.info("message " + j);
                    logger.debug("not shown");
                    other.warn("queued " + j);
                    if (j % 100 == 0) {
                        logger.error("failure " + j, new IllegalStateException("number " + j));
                    }
                }
                NDC.remove();
            }, "logger-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        queue.close();
        for (Path file : new Path[] {direct, queued}) {
            List<String> lines = Files.readAllLines(file).stream().sorted().collect(Collectors.toList());
            System.out.println(file.getFileName() + " " + lines.size() + " lines, hash " + lines.hashCode());
            System.out.println(lines.get(lines.size() / 2));
        }
    }
}
