package torture;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Counts in its own data how often another thread came between the two operations of a block: the other thread changes
 * a value each time, and the block sees whether it has changed. Prints the name of each case and the count.
 */
public class Splits {
    /** A block of two operations, and what another thread does all the time. */
    abstract static class Case {
        /** Whether it was split. */
        abstract boolean block();

        abstract void intrude();

        /** How many blocks are executed; 0 for the usual number. */
        int rounds() {
            return 0;
        }
    }

    /** Gives the other thread time to come in between. */
    private static void gap() {
        for (int i = 0; i < 40; i++) {
            Thread.onSpinWait();
        }
        // There may be one processor only.
        if ((System.nanoTime() & 15) == 0) {
            Thread.yield();
        }
    }

    // ------------------------------------------------------------------ fields

    static class Volatile extends Case {
        volatile int x;

        @Override boolean block() {
            int before = x;
            gap();
            return x != before;
        }

        @Override void intrude() {
            x = x + 1;
        }
    }

    static class Fields {
        volatile int x;
        static volatile long wide;
    }

    static class VolatileOfOther extends Case {
        final Fields fields = new Fields();

        @Override boolean block() {
            int before = fields.x;
            gap();
            return fields.x != before;
        }

        @Override void intrude() {
            fields.x = fields.x + 1;
        }
    }

    static class VolatileStatic extends Case {
        @Override boolean block() {
            long before = Fields.wide;
            gap();
            return Fields.wide != before;
        }

        @Override void intrude() {
            Fields.wide = Fields.wide + 1;
        }
    }

    static class VolatileOnce extends Case {
        volatile int x;

        @Override boolean block() {
            gap();
            return x < 0;
        }

        @Override void intrude() {
            x = x + 1;
        }
    }

    // ------------------------------------------------------------------ atomics

    static class AtomicGets extends Case {
        final AtomicInteger x = new AtomicInteger();

        @Override boolean block() {
            int before = x.get();
            gap();
            return x.get() != before;
        }

        @Override void intrude() {
            x.incrementAndGet();
        }
    }

    static class AtomicSet extends Case {
        final AtomicInteger x = new AtomicInteger();
        int last;

        @Override boolean block() {
            int before = x.get();
            gap();
            return x.get() != before;
        }

        @Override void intrude() {
            last++;
            x.set(last);
        }
    }

    static class AtomicGetAndSet extends Case {
        final AtomicInteger x = new AtomicInteger();

        @Override boolean block() {
            int before = x.get();
            gap();
            return x.getAndSet(before + 1) != before;
        }

        @Override void intrude() {
            x.incrementAndGet();
        }
    }

    static class AtomicUpdates extends Case {
        final AtomicInteger x = new AtomicInteger();

        @Override boolean block() {
            int before = x.updateAndGet(value -> value + 1);
            gap();
            return x.updateAndGet(value -> value + 1) != before + 1;
        }

        @Override void intrude() {
            x.updateAndGet(value -> value + 1);
        }
    }

    static class AtomicCompareAndSet extends Case {
        final AtomicInteger x = new AtomicInteger();

        @Override boolean block() {
            int before = x.get();
            gap();
            return !x.compareAndSet(before, before + 1);
        }

        @Override void intrude() {
            x.getAndIncrement();
        }
    }

    static class AtomicOnce extends Case {
        final AtomicInteger x = new AtomicInteger();

        @Override boolean block() {
            gap();
            return x.getAndUpdate(value -> value + 1) < 0;
        }

        @Override void intrude() {
            x.getAndIncrement();
        }
    }

    // ------------------------------------------------------------------ locks

    static class Monitor extends Case {
        private int x;

        private synchronized int get() {
            return x;
        }

        private synchronized void increment() {
            x++;
        }

        @Override boolean block() {
            int before = get();
            gap();
            return get() != before;
        }

        @Override void intrude() {
            increment();
        }
    }

    static class MonitorOnce extends Monitor {
        @Override synchronized boolean block() {
            return super.block();
        }
    }

    static class Reentrant extends Case {
        final ReentrantLock lock = new ReentrantLock();
        private int x;

        private int get() {
            lock.lock();
            try {
                return x;
            } finally {
                lock.unlock();
            }
        }

        @Override boolean block() {
            int before = get();
            gap();
            return get() != before;
        }

        @Override void intrude() {
            lock.lock();
            try {
                x++;
            } finally {
                lock.unlock();
            }
        }
    }

    static class ReentrantOnce extends Reentrant {
        @Override boolean block() {
            lock.lock();
            try {
                return super.block();
            } finally {
                lock.unlock();
            }
        }
    }

    static class ReadLock extends Case {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private int x;

        private int get() {
            lock.readLock().lock();
            try {
                return x;
            } finally {
                lock.readLock().unlock();
            }
        }

        @Override boolean block() {
            int before = get();
            gap();
            return get() != before;
        }

        @Override void intrude() {
            lock.writeLock().lock();
            try {
                x++;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    static class ReadLockOnce extends ReadLock {
        @Override boolean block() {
            lock.readLock().lock();
            try {
                return super.block();
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    static class Stamped extends Case {
        final StampedLock lock = new StampedLock();
        int x;

        private int get() {
            long stamp = lock.readLock();
            try {
                return x;
            } finally {
                lock.unlockRead(stamp);
            }
        }

        @Override boolean block() {
            int before = get();
            gap();
            return get() != before;
        }

        @Override void intrude() {
            long stamp = lock.writeLock();
            try {
                x++;
            } finally {
                lock.unlockWrite(stamp);
            }
        }
    }

    static class StampedOnce extends Stamped {
        @Override boolean block() {
            long stamp = lock.readLock();
            try {
                int before = x;
                gap();
                return x != before;
            } finally {
                lock.unlockRead(stamp);
            }
        }
    }

    static class Waiting extends Case {
        private int x;

        @Override synchronized boolean block() {
            int before = x;
            try {
                wait(1);
            } catch (InterruptedException unexpected) {
                throw new IllegalStateException(unexpected);
            }
            return x != before;
        }

        @Override synchronized void intrude() {
            x++;
        }

        @Override int rounds() {
            return 100;
        }
    }

    // ------------------------------------------------------------------ collections

    static class MapGets extends Case {
        final ConcurrentHashMap<String, Integer> map = new ConcurrentHashMap<>(Map.of("one", 0));
        int last;

        @Override boolean block() {
            int before = map.get("one");
            gap();
            return map.get("one") != before;
        }

        @Override void intrude() {
            last++;
            map.put("one", last);
        }
    }

    /** Other keys are other variables. */
    static class MapOfOtherKeys extends MapGets {
        @Override void intrude() {
            last++;
            map.put("two", last);
            map.merge("three", 1, Integer::sum);
        }
    }

    static class MapGetPut extends Case {
        final Map<Integer, Integer> map = new ConcurrentHashMap<>(Map.of(1, 0));

        @Override boolean block() {
            Integer before = map.get(1);
            gap();
            return !map.put(1, before + 1).equals(before);
        }

        @Override void intrude() {
            map.compute(1, (key, value) -> value + 1);
        }
    }

    static class SortedMapGets extends Case {
        final ConcurrentSkipListMap<Long, Integer> map = new ConcurrentSkipListMap<>(Map.of(1L, 0));
        int last;

        @Override boolean block() {
            int before = map.get(1L);
            gap();
            return map.get(1L) != before;
        }

        @Override void intrude() {
            last++;
            map.put(1L, last);
        }
    }

    static class Vectors extends Case {
        final Vector<Integer> vector = new Vector<>(Collections.singleton(0));
        int last;

        @Override boolean block() {
            int before = vector.get(0);
            gap();
            return vector.get(0) != before;
        }

        @Override void intrude() {
            last++;
            vector.set(0, last);
        }
    }

    static class VectorsLocked extends Vectors {
        @Override boolean block() {
            synchronized (vector) {
                return super.block();
            }
        }
    }

    static class VectorsOnce extends Vectors {
        @Override boolean block() {
            gap();
            return vector.get(0) < 0;
        }
    }

    static class SynchronizedMap extends Case {
        final Map<String, Integer> map = Collections.synchronizedMap(new HashMap<>(Map.of("one", 0)));
        int last;

        @Override boolean block() {
            Integer before = map.get("one");
            gap();
            return !map.get("one").equals(before);
        }

        @Override void intrude() {
            last++;
            map.put("one", last);
        }
    }

    // ------------------------------------------------------------------ the measurement

    static volatile boolean isBegun;
    static volatile boolean isOver;

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Case[] cases = {
            new Volatile(), new VolatileOfOther(), new VolatileStatic(), new VolatileOnce(), new AtomicGets(),
            new AtomicSet(), new AtomicGetAndSet(), new AtomicUpdates(), new AtomicCompareAndSet(), new AtomicOnce(),
            new Monitor(), new MonitorOnce(), new Reentrant(), new ReentrantOnce(), new ReadLock(), new ReadLockOnce(),
            new Stamped(), new StampedOnce(), new Waiting(), new MapGets(), new MapOfOtherKeys(), new MapGetPut(),
            new SortedMapGets(), new Vectors(), new VectorsLocked(), new VectorsOnce(), new SynchronizedMap(),
        };
        for (Case one : cases) {
            isBegun = false;
            isOver = false;
            Thread intruder = new Thread(() -> {
                isBegun = true;
                while (!isOver) {
                    one.intrude();
                    gap();
                }
            });
            intruder.start();
            while (!isBegun) {
                Thread.onSpinWait();
            }
            int splits = 0;
            for (int round = one.rounds() == 0 ? rounds : one.rounds(); round > 0; round--) {
                splits += one.block() ? 1 : 0;
            }
            isOver = true;
            intruder.join();
            System.out.println(one.getClass().getName() + " " + splits);
        }
    }
}
