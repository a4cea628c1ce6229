package real;

import java.io.IOException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.apache.tomcat.util.buf.ByteChunk;
import org.apache.tomcat.util.buf.StringCache;

/** Threads that turn bytes into text, so few that Tomcat makes no cache of it. */
public class Strings {
    static void read(String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        ByteChunk chunk = new ByteChunk();
        chunk.setBytes(bytes, 0, bytes.length);
        StringCache.toString(chunk, CodingErrorAction.REPLACE, CodingErrorAction.REPLACE);
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Thread[] readers = new Thread[2];
        for (int number = 0; number < readers.length; number++) {
            readers[number] = new Thread(() -> {
                for (int round = 0; round < rounds; round++) {
                    try {
                        read("text " + round);
                    } catch (IOException problem) {
                        throw new IllegalStateException(problem);
                    }
                }
            });
            readers[number].start();
        }
        for (Thread reader : readers) {
            reader.join();
        }
    }
}
