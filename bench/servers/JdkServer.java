package servers;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The application behind the server of the JDK. */
public final class JdkServer {
    public static void main(String[] arguments) throws Exception {
        Application application = new Application();
        CountDownLatch stop = new CountDownLatch(1);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
        ExecutorService workers = Executors.newFixedThreadPool(8);
        server.setExecutor(workers);
        server.createContext("/", exchange -> {
            String query = exchange.getRequestURI().getQuery();
            byte[] body = {};
            if (query == null) {
                stop.countDown();
            } else {
                int equals = query.indexOf('=');
                try {
                    String answer = application.answer(
                        query.substring(0, equals), Integer.parseInt(query.substring(equals + 1)));
                    body = answer.getBytes(StandardCharsets.US_ASCII);
                } catch (InterruptedException interrupted) {
                    throw new IOException(interrupted);
                }
            }
            exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        System.out.println("port " + server.getAddress().getPort());
        System.out.flush();
        stop.await();
        server.stop(1);
        workers.shutdown();
    }
}
