package real;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** A web server on a port of its own choice, which it prints; it serves until it is asked to stop. */
public class WebServer {
    private static final CountDownLatch STOP = new CountDownLatch(1);

    public static void main(String[] arguments) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(arguments[0]);
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", "8");
        Context context = tomcat.addContext("", arguments[0]);
        Tomcat.addServlet(context, "shop", new Shop());
        context.addServletMappingDecoded("/shop/*", "shop");
        Tomcat.addServlet(context, "stop", new Stop());
        context.addServletMappingDecoded("/stop", "stop");
        tomcat.start();
        System.out.println("port " + tomcat.getConnector().getLocalPort());
        System.out.flush();
        STOP.await();
        tomcat.stop();
        tomcat.destroy();
        System.out.println("stopped");
    }

    /** Counts in its own fields and in the session, under its own lock. */
    static class Shop extends HttpServlet {
        private static final long serialVersionUID = 1;
        private final Map<String, Integer> stock = new TreeMap<>();
        private int requests;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            String item = request.getParameter("item");
            if (item == null) {
                response.sendError(400, "no item");
                return;
            }
            int left;
            synchronized (stock) {
                requests++;
                left = stock.merge(item, -1, Integer::sum);
            }
            response.setContentType("text/plain");
            response.setHeader("X-Path", String.valueOf(request.getPathInfo()));
            if (request.getParameter("visit") != null) {
                HttpSession session = request.getSession();
                synchronized (session) {
                    Integer visits = (Integer) session.getAttribute("visits");
                    session.setAttribute("visits", visits == null ? 1 : visits + 1);
                }
            }
            response.getWriter().print("item " + item + " " + (request.getParameter("count") != null ? left : "sold"));
        }
    }

    static class Stop extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getWriter().print("bye");
            STOP.countDown();
        }
    }
}
