package torture;

import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Stacks that overflow, heaps that are full, and objects that are collected. Run with a small heap. */
public class Limits {
    private int depth;
    private static int staticDepth;

    public static void main(String[] arguments) throws Exception {
        Limits limits = new Limits();
        for (int round = 0; round < 5; round++) {
            overflow("plain", limits::recurse);
            overflow("synchronized", limits::recurseLocked);
            overflow("static", Limits::recurseStatic);
            overflow("finally", limits::recurseFinally);
            overflow("blocks", limits::recurseBlocks);
            System.out.println(Thread.holdsLock(limits) + " " + Thread.holdsLock(Limits.class));
        }
        // Whoever still held a lock would be noticed now.
        Thread other = new Thread(() -> {
            synchronized (limits) {
                synchronized (Limits.class) {
                    limits.depth = 0;
                }
            }
        });
        other.start();
        other.join(10_000);
        System.out.println("free " + !other.isAlive() + " " + limits.depth);
        fillHeap();
        collect();
    }

    static void overflow(String name, Runnable recursion) {
        try {
            recursion.run();
            System.out.println(name + " ended");
        } catch (StackOverflowError error) {
            System.out.println(name + " " + error.getClass().getName() + " " + error.getMessage()
                    + " " + (error.getStackTrace().length > 100));
        }
    }

    void recurse() {
        depth++;
        recurse();
    }

    synchronized void recurseLocked() {
        depth++;
        recurseLocked();
        depth--;
    }

    static synchronized void recurseStatic() {
        staticDepth++;
        recurseStatic();
    }

    void recurseFinally() {
        try {
            depth++;
            recurseFinally();
        } finally {
            depth--;
        }
    }

    void recurseBlocks() {
        synchronized (this) {
            depth++;
            synchronized (Limits.class) {
                recurseBlocks();
            }
        }
    }

    static class Node {
        private Node next;
        private long[] ballast = new long[1000];
    }

    static void fillHeap() throws Exception {
        for (int round = 0; round < 3; round++) {
            Node first = null;
            try {
                while (true) {
                    Node node = new Node();
                    node.next = first;
                    first = node;
                }
            } catch (OutOfMemoryError error) {
                first = null;
                System.out.println("full: " + error.getMessage());
            }
        }
        try {
            System.out.println(new int[Integer.MAX_VALUE].length);
        } catch (OutOfMemoryError error) {
            System.out.println("too large: " + error.getMessage());
        }
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                List<Node> nodes = new ArrayList<>();
                try {
                    while (true) {
                        nodes.add(new Node());
                    }
                } catch (OutOfMemoryError error) {
                    nodes.clear();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("both survived");
    }

    static class Finalized {
        private final CountDownLatch done;
        private int state = 1;

        Finalized(CountDownLatch done) {
            this.done = done;
        }

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            state++;
            if (state == 2) {
                done.countDown();
            }
        }
    }

    static void collect() throws Exception {
        CountDownLatch finalized = new CountDownLatch(10);
        CountDownLatch cleaned = new CountDownLatch(10);
        Cleaner cleaner = Cleaner.create();
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        List<Reference<?>> references = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            references.add(new PhantomReference<>(new Finalized(finalized), queue));
            references.add(new WeakReference<>(new Node()));
            cleaner.register(new Node(), cleaned::countDown);
        }
        int enqueued = 0;
        long weak = references.size();
        for (int i = 0; i < 600 && (finalized.getCount() > 0 || cleaned.getCount() > 0 || enqueued < 10 || weak > 0); i++) {
            System.gc();
            TimeUnit.MILLISECONDS.sleep(10);
            while (queue.poll() != null) {
                enqueued++;
            }
            weak = references.stream().filter(reference -> reference instanceof WeakReference && reference.get() != null).count();
        }
        System.out.println("finalized " + (10 - finalized.getCount()) + " cleaned " + (10 - cleaned.getCount())
                + " enqueued " + enqueued + " weak " + weak);
    }
}
