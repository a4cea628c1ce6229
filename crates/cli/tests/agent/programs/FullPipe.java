package torture;

import java.util.concurrent.locks.StampedLock;

/** Writes more than a pipe takes while a thread waits for what it holds itself. */
public class FullPipe {
    public static void main(String[] arguments) {
        StampedLock lock = new StampedLock();
        new Thread(() -> {
            lock.writeLock();
            lock.writeLock();
        }, "stamper").start();
        String line = "x".repeat(1000);
        while (true) {
            System.out.println(line);
        }
    }
}
