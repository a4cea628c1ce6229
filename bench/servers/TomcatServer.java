package servers;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.apache.catalina.Context;
import org.apache.catalina.servlets.DefaultServlet;
import org.apache.catalina.startup.Tomcat;

/** The application in a Tomcat, and a static file. */
public final class TomcatServer {
    private static final CountDownLatch STOP = new CountDownLatch(1);

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]).toAbsolutePath();
        Path files = Files.createDirectories(folder.resolve("files"));
        Files.writeString(files.resolve("static.txt"), "0123456789abcdef".repeat(64));
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", "8");
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        Context context = tomcat.addContext("", files.toString());
        Tomcat.addServlet(context, "shop", new Shop());
        context.addServletMappingDecoded("/shop", "shop");
        Tomcat.addServlet(context, "files", new DefaultServlet());
        context.addServletMappingDecoded("/", "files");
        tomcat.start();
        System.out.println("port " + tomcat.getConnector().getLocalPort());
        System.out.flush();
        STOP.await();
        tomcat.stop();
        tomcat.destroy();
    }

    static class Shop extends HttpServlet {
        private static final long serialVersionUID = 1;
        private final transient Application application = new Application();

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            String query = request.getQueryString();
            if (query == null) {
                STOP.countDown();
                return;
            }
            int equals = query.indexOf('=');
            try {
                String answer = application.answer(
                    query.substring(0, equals), Integer.parseInt(query.substring(equals + 1)));
                byte[] body = answer.getBytes(StandardCharsets.US_ASCII);
                response.setContentLength(body.length);
                response.getOutputStream().write(body);
            } catch (InterruptedException interrupted) {
                throw new IOException(interrupted);
            }
        }
    }
}
