package servers;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;

/** Asks a server on this machine, over connections that stay open, for a bounded time: PORT PATH WARM-UP SECONDS STOP. */
public final class Load {
    private static final int CONNECTIONS = 8;
    /** More answers than this are counted, and not timed. */
    private static final int MOST_TIMED = 1 << 20;

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        String path = arguments[1];
        long begin = System.nanoTime() + seconds(arguments[2]);
        long end = begin + seconds(arguments[3]);
        Client[] clients = new Client[CONNECTIONS];
        AtomicReference<Exception> failure = new AtomicReference<>();
        Thread[] threads = new Thread[CONNECTIONS];
        for (int i = 0; i < CONNECTIONS; i++) {
            Client client = clients[i] = new Client(port, path, i);
            threads[i] = new Thread(() -> {
                try {
                    client.ask(begin, end);
                } catch (IOException | RuntimeException problem) {
                    failure.compareAndSet(null, problem);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw failure.get();
        }
        long[] nanos = new long[0];
        long requests = 0;
        long asked = 0;
        for (Client client : clients) {
            requests += client.requests;
            asked += client.asked;
            int timed = (int) Math.min(client.requests, client.nanos.length);
            long[] all = Arrays.copyOf(nanos, nanos.length + timed);
            System.arraycopy(client.nanos, 0, all, nanos.length, timed);
            nanos = all;
        }
        Arrays.sort(nanos);
        System.out.println("requests " + requests);
        System.out.println("asked " + asked);
        System.out.println("p99 " + (nanos.length == 0 ? 0 : nanos[(int) (nanos.length * 99L / 100)] / 1000));
        new Client(port, arguments[4], 0).once();
    }

    private static long seconds(String text) {
        return (long) (Double.parseDouble(text) * 1e9);
    }

    private static final class Client {
        private final int port;
        private final String path;
        private final int number;
        private final long[] nanos = new long[MOST_TIMED / CONNECTIONS];
        private long requests;
        /** With those before the time began. */
        private long asked;

        Client(int port, String path, int number) {
            this.port = port;
            this.path = path;
            this.number = number;
        }

        void ask(long begin, long end) throws IOException {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(30_000);
                InputStream in = new BufferedInputStream(socket.getInputStream(), 8192);
                OutputStream out = socket.getOutputStream();
                for (int i = 0; ; i++) {
                    long before = System.nanoTime();
                    if (before > end) {
                        return;
                    }
                    exchange(in, out, path.replace("USER", "user" + (number * 7 + i) % 40).replace("ARTICLE", "" + i * 17 % 500));
                    asked++;
                    if (before > begin) {
                        if (requests < nanos.length) {
                            nanos[(int) requests] = System.nanoTime() - before;
                        }
                        requests++;
                    }
                }
            }
        }

        void once() throws IOException {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                exchange(new BufferedInputStream(socket.getInputStream()), socket.getOutputStream(), path);
            }
        }

        private static void exchange(InputStream in, OutputStream out, String path) throws IOException {
            out.write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            String status = line(in);
            if (!status.startsWith("HTTP/1.1 200")) {
                throw new IOException("the server answers `" + status + "`");
            }
            int length = 0;
            for (String header = line(in); !header.isEmpty(); header = line(in)) {
                if (header.regionMatches(true, 0, "content-length:", 0, 15)) {
                    length = Integer.parseInt(header.substring(15).trim());
                }
            }
            if (in.readNBytes(length).length != length) {
                throw new IOException("the answer is cut short");
            }
        }

        private static String line(InputStream in) throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c = in.read(); c != '\n'; c = in.read()) {
                if (c < 0) {
                    throw new IOException("the server closes the connection");
                }
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            return line.toString();
        }
    }
}
