package programs.mutants;

import programs.NotAtomic;

/**
 * A small library of collections that may be used by many threads at a time, and threads that use them:
 * a queue, a map, a cache, a heap, a stack, a sorted list, a set of counters and a buffer of limited size.
 */
public final class Collections {
    private static final int WORKERS = 4;
    private static final int ROUNDS = 12_000;

    private Collections() {}

    public static void main(String[] arguments) throws InterruptedException {
        Library library = new Library();
        Runnable[] workers = new Runnable[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = new Worker(library, i);
        }
        Crew.run(workers);
        Crew.expect("queued", 0, library.queue.size);
        Crew.expect("counted", WORKERS * ROUNDS, library.counters.total);
        Crew.expect("on the heap", 0, library.heap.size);
        Crew.expect("on the stack", 0, library.stack.depth);
        Crew.expect("sorted", 0, library.sorted.size);
        Crew.expect("passed on", WORKERS * ROUNDS / 4, library.buffer.passed);
    }

    private static final class Library {
        final Queue queue = new Queue();
        final Map map = new Map();
        final Cache cache = new Cache(8);
        final Heap heap = new Heap();
        final Stack stack = new Stack();
        final SortedList sorted = new SortedList();
        final Counters counters = new Counters();
        final Buffer buffer = new Buffer();
    }

    /** A place in any of the collections. */
    private static final class Node {
        final int key;
        int value;
        Node next;
        Node left;
        Node right;

        Node(int key, int value) {
            this.key = key;
            this.value = value;
        }
    }

    /** First in, first out. */
    private static final class Queue {
        private Node first;
        private Node last;
        private int size;

        synchronized void add(int value) {
            Node node = new Node(value, value);
            if (last == null) {
                first = node;
            } else {
                last.next = node;
            }
            last = node;
            size++;
        }

        /** The oldest element, or -1. */
        synchronized int remove() {
            if (first == null) {
                return -1;
            }
            Node node = first;
            first = node.next;
            if (first == null) {
                last = null;
            }
            size--;
            return node.value;
        }

        /** Takes the oldest element and adds another one, if there is one to take. */
        synchronized int exchange(int value) {
            int taken = remove();
            if (taken >= 0) {
                add(value);
            }
            return taken;
        }

        synchronized int firstOr(int otherwise) {
            return size == 0 || first == null ? otherwise : first.value;
        }
    }

    /** Keys with values, in chains. */
    private static final class Map {
        private static final int CHAINS = 4;
        private final Chain[] chains = new Chain[CHAINS];
        private int size;
        private int changes;

        Map() {
            for (int i = 0; i < CHAINS; i++) {
                chains[i] = new Chain();
            }
        }

        private static final class Chain {
            private Node first;
        }

        private Node find(int key) {
            Node node = chains[key % CHAINS].first;
            while (node != null && node.key != key) {
                node = node.next;
            }
            return node;
        }

        /** The value of a key, or -1. */
        synchronized int get(int key) {
            Node node = size == 0 ? null : find(key);
            return node == null ? -1 : node.value;
        }

        synchronized void put(int key, int value) {
            Node node = find(key);
            if (node == null) {
                node = new Node(key, value);
                Chain chain = chains[key % CHAINS];
                node.next = chain.first;
                chain.first = node;
                size++;
            } else {
                node.value = value;
            }
            changes++;
        }

        /** Only puts what is not there. */
        synchronized int putIfAbsent(int key, int value) {
            int present = get(key);
            if (present < 0) {
                put(key, value);
            }
            return present;
        }

        synchronized void add(int key, int more) {
            put(key, get(key) + more);
        }

        synchronized boolean remove(int key) {
            Chain chain = chains[key % CHAINS];
            Node before = null;
            for (Node node = chain.first; node != null; node = node.next) {
                if (node.key == key) {
                    if (before == null) {
                        chain.first = node.next;
                    } else {
                        before.next = node.next;
                    }
                    size--;
                    changes++;
                    return true;
                }
                before = node;
            }
            return false;
        }

        synchronized int restlessness() {
            return size == 0 ? changes : changes / size;
        }
    }

    /** The values that were used last. */
    private static final class Cache {
        private final Object order = new Object();
        private final int limit;
        private Node first;
        private int size;
        private int hits;
        private int misses;

        Cache(int limit) {
            this.limit = limit;
        }

        /** The value of a key, which is then the first; or -1. */
        int find(int key) {
            synchronized (order) {
                Node before = null;
                for (Node node = first; node != null; node = node.next) {
                    if (node.key == key) {
                        if (before != null) {
                            before.next = node.next;
                            node.next = first;
                            first = node;
                        }
                        hits++;
                        return node.value;
                    }
                    before = node;
                }
                misses++;
                return -1;
            }
        }

        void store(int key, int value) {
            synchronized (order) {
                Node node = new Node(key, value);
                node.next = first;
                first = node;
                size++;
                if (size > limit) {
                    Node last = first;
                    for (int i = 1; i < limit; i++) {
                        last = last.next;
                    }
                    last.next = null;
                    size = limit;
                }
            }
        }

        int quality() {
            synchronized (order) {
                return hits + misses == 0 ? size : 100 * hits / (hits + misses);
            }
        }
    }

    /** The smallest first: a skew heap. */
    private static final class Heap {
        private Node root;
        private int size;

        private static Node merge(Node one, Node other) {
            if (one == null || other == null) {
                return one == null ? other : one;
            }
            Node top = one.key <= other.key ? one : other;
            Node rest = top == one ? other : one;
            Node merged = merge(rest, top.right);
            top.right = top.left;
            top.left = merged;
            return top;
        }

        synchronized void add(int key) {
            root = merge(root, new Node(key, key));
            size++;
        }

        /** The smallest, or -1. */
        synchronized int removeFirst() {
            if (root == null) {
                return -1;
            }
            Node node = root;
            root = merge(node.left, node.right);
            size--;
            return node.key;
        }

        synchronized int firstOr(int otherwise) {
            return size == 0 || root == null ? otherwise : root.key;
        }
    }

    /** Last in, first out. */
    private static final class Stack {
        private Node top;
        private int depth;
        private int deepest;

        synchronized void push(int value) {
            Node node = new Node(value, value);
            node.next = top;
            top = node;
            depth++;
            if (depth > deepest) {
                deepest = depth;
            }
        }

        /** The last element, or -1. */
        synchronized int pop() {
            if (top == null) {
                return -1;
            }
            Node node = top;
            top = node.next;
            depth--;
            return node.value;
        }

        /** Exchanges the two elements on top. */
        synchronized void swap() {
            if (top != null && top.next != null) {
                Node second = top.next;
                top.next = second.next;
                second.next = top;
                top = second;
            }
        }

        synchronized int filling() {
            return deepest == 0 ? 0 : 100 * depth / deepest;
        }
    }

    /** Elements in their order. */
    private static final class SortedList {
        private Node first;
        private int size;

        void add(int key) {
            synchronized (this) {
                Node node = new Node(key, key);
                if (first == null || first.key >= key) {
                    node.next = first;
                    first = node;
                } else {
                    Node before = first;
                    while (before.next != null && before.next.key < key) {
                        before = before.next;
                    }
                    node.next = before.next;
                    before.next = node;
                }
                size++;
            }
        }

        /** The smallest, or -1. */
        int removeFirst() {
            synchronized (this) {
                Node node = first;
                if (node == null) {
                    return -1;
                }
                first = node.next;
                size--;
                return node.key;
            }
        }

        /** Removes and adds again, which keeps the order: what is equal may change places. */
        void refresh() {
            synchronized (this) {
                int key = removeFirst();
                if (key >= 0) {
                    add(key);
                }
            }
        }
    }

    /** How often something happened. */
    private static final class Counters {
        private int even;
        private int odd;
        private int total;

        synchronized void count(int number) {
            if ((number & 1) == 0) {
                even++;
            } else {
                odd++;
            }
            total++;
        }

        synchronized boolean isConsistent() {
            return even + odd == total;
        }
    }

    /** A few elements on their way from one thread to another. */
    private static final class Buffer {
        private static final int LIMIT = 16;
        private Node first;
        private int size;
        private int passed;

        @NotAtomic
        synchronized void put(int value) throws InterruptedException {
            while (size == LIMIT) {
                wait();
            }
            Node node = new Node(value, value);
            node.next = first;
            first = node;
            size++;
            notifyAll();
        }

        @NotAtomic
        synchronized int take() throws InterruptedException {
            while (size == 0) {
                wait();
            }
            Node node = first;
            first = node.next;
            size--;
            passed++;
            notifyAll();
            return node.value;
        }

        synchronized boolean isCalm() {
            return size == 0 && first == null;
        }
    }

    /** Uses everything. What it puts into a collection, it takes something out for. */
    private static final class Worker implements Runnable {
        private final Library library;
        private final Dice dice;
        private final boolean isProducer;
        private long seen;

        Worker(Library library, int number) {
            this.library = library;
            this.dice = new Dice(number + 5);
            this.isProducer = number % 2 == 0;
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < ROUNDS; i++) {
                    round(i);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void round(int number) throws InterruptedException {
            int key = dice.roll(12);
            library.queue.add(key);
            library.heap.add(key);
            library.stack.push(key);
            library.sorted.add(key);
            library.counters.count(number);
            use(key);
            if (number % 2 == 0) {
                if (isProducer) {
                    library.buffer.put(key);
                } else {
                    seen += library.buffer.take();
                }
            }
            seen += library.queue.remove();
            seen += library.heap.removeFirst();
            seen += library.stack.pop();
            seen += library.sorted.removeFirst();
        }

        private void use(int key) {
            seen += library.queue.exchange(key) + library.queue.firstOr(0);
            seen += library.map.putIfAbsent(key, key) + library.map.get(key);
            library.map.add(key, 1);
            if (dice.roll(4) == 0) {
                seen += library.map.remove(key) ? 1 : 0;
            }
            if (library.cache.find(key) < 0) {
                library.cache.store(key, key);
            }
            library.stack.swap();
            library.sorted.refresh();
            seen += library.map.restlessness() + library.cache.quality() + library.stack.filling();
            seen += library.heap.firstOr(0);
            seen += library.counters.isConsistent() && library.buffer.isCalm() ? 1 : 0;
        }
    }
}
