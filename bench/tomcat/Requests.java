package programs;

import java.io.IOException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import org.apache.tomcat.util.buf.ByteChunk;
import org.apache.tomcat.util.buf.CharChunk;
import org.apache.tomcat.util.buf.MessageBytes;
import org.apache.tomcat.util.buf.StringCache;
import org.apache.tomcat.util.http.FastHttpDateFormat;
import org.apache.tomcat.util.http.MimeHeaders;
import org.apache.tomcat.util.http.Parameters;

/**
 * Threads that read requests with Tomcat's classes, each with its own objects: what they share are Tomcat's static fields. There
 * are too few requests for Tomcat to make a cache of the texts in them.
 */
public final class Requests {
    public static void main(String[] arguments) throws InterruptedException {
        int rounds = Measurement.size(arguments, 50);
        int threads = Measurement.threads(arguments);
        long[] sums = new long[threads];
        Measurement measurement = Measurement.begin();
        Runnable[] readers = new Runnable[threads];
        for (int number = 0; number < threads; number++) {
            int mine = number;
            readers[number] = () -> sums[mine] = readAll(rounds);
        }
        Measurement.runAll(readers);
        long checksum = 0;
        for (long sum : sums) {
            checksum = Measurement.mix(checksum, sum);
        }
        measurement.end(checksum);
    }

    private static long readAll(int rounds) {
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            try {
                sum = Measurement.mix(sum, read("/shop/item" + round % 100, "count=" + round + "&size=large"));
            } catch (IOException problem) {
                throw new IllegalStateException(problem);
            }
        }
        return sum;
    }

    private static int read(String path, String query) throws IOException {
        byte[] bytes = path.getBytes(StandardCharsets.ISO_8859_1);
        ByteChunk chunk = new ByteChunk();
        chunk.setBytes(bytes, 0, bytes.length);
        int sum = StringCache.toString(chunk, CodingErrorAction.REPLACE, CodingErrorAction.REPLACE).length();
        CharChunk characters = new CharChunk();
        characters.setChars(path.toCharArray(), 0, path.length());
        sum += StringCache.toString(characters).length();
        MessageBytes target = MessageBytes.newInstance();
        target.setBytes(bytes, 0, bytes.length);
        sum += target.toString().length();
        Parameters parameters = new Parameters();
        byte[] pairs = query.getBytes(StandardCharsets.ISO_8859_1);
        parameters.processParameters(pairs, 0, pairs.length);
        for (Enumeration<String> names = parameters.getParameterNames(); names.hasMoreElements();) {
            sum += parameters.getParameter(names.nextElement()).length();
        }
        MimeHeaders headers = new MimeHeaders();
        headers.setValue("Host").setString("localhost");
        headers.setValue("Date").setString(FastHttpDateFormat.getCurrentDate());
        sum += headers.getHeader("Date").length();
        return sum + FastHttpDateFormat.formatDate(86_400_000L).length();
    }
}
