//! The symbolic execution on small Java programs.

#[path = "../java_program/mod.rs"]
mod java_program;
mod paths;
#[path = "../random/mod.rs"]
#[allow(dead_code, reason = "what makes programs smaller is for the other oracles")]
mod random;
mod recorder;

use analyses::execution::{AccessKind, ExecutionLimits};
use recorder::Run;

/// A program whose `main` starts two threads that run `body`, with these members.
fn two_threads(members: &str, body: &str) -> String {
    format!(
        "public class Main {{
            static Shared shared = new Shared();
            {members}
            public static void main(String[] args) {{
                for (int i = 0; i < 2; i++) new Thread(() -> {{ {body} }}).start();
            }}
        }}"
    )
}

const PHILO: &str = "
    public class Main {
        static final int NUM = 3;
        public static void main(String[] args) throws InterruptedException {
            Table tab = new Table();
            Philo[] p = new Philo[NUM];
            for (int i = 0; i < NUM; ++i) { p[i] = new Philo(i, tab); p[i].start(); }
            for (int i = 0; i < NUM; ++i) p[i].join();
            for (int i = 0; i < NUM; ++i) p[i].report();
        }
    }
    class Philo extends Thread {
        final int id; final Table tab; int snacks;
        Philo(int id, Table tab) { this.id = id; this.tab = tab; snacks = 0; }
        void report() { System.out.println(id + \" had \" + snacks); }
        public void run() {
            for (int i = 0; i < 10; ++i) { tab.getForks(id); snacks++; tab.putForks(id); }
        }
    }
    class Table {
        boolean[] forks = new boolean[3];
        int eaten;
        Table() { for (int i = 0; i < 3; ++i) forks[i] = true; }
        synchronized void getForks(int id) {
            while (!(forks[id] && forks[(id + 1) % 3])) {
                try { wait(); } catch (InterruptedException e) { }
            }
            forks[id] = false; forks[(id + 1) % 3] = false; eaten++;
        }
        synchronized void putForks(int id) {
            forks[id] = true; forks[(id + 1) % 3] = true; notifyAll();
        }
    }";

#[test]
fn dining_philosophers() {
    let run = Run::of(&[("Main", PHILO)]);
    assert_eq!(run.locks("Table.getForks", "eaten"), [["inside()"]]);
    // The array belongs to the table that is locked.
    assert_eq!(run.locks("Table.getForks", "[]"), [["around(forks)"]]);
    let constructor = run.access("Table.<init>", "[]");
    assert!(constructor.is_fresh, "{constructor:?}");
    assert!(run.access("Table.<init>", "forks").is_in_constructor);
    let snack = run.access("Philo.run", "snacks");
    assert!(snack.is_own_root);
    assert_eq!(snack.may_have_started, None);
    assert!(run.access("Philo.<init>", "snacks").is_fresh);
    // The report comes after all threads have ended.
    let report = run.access("Philo.report", "snacks");
    assert_eq!(report.has_joined.iter().count(), 1, "{report:?}");
    assert!(run.recorded.signals.iter().any(|(method, is_wait, has_lock)| {
        method == "Table.getForks" && *is_wait && *has_lock
    }));
    // One table, many philosophers.
    let table = run.access("Table.getForks", "eaten").object;
    assert!(run.heap.objects[table].properties.is_unique);
    assert!(!run.heap.objects[snack.object].properties.is_unique);
    assert_eq!(run.heap.objects[table].allocated_at.len(), 1);
    assert!(run.recorded.is_finished);
    assert!(run.counters().contexts > 0 && !run.counters().is_cut_short);
}

#[test]
fn the_relation_of_lock_and_object_is_that_of_the_code() {
    let members = "
        static Object global = new Object();
        static void bump() { synchronized (global) { shared.inGlobal++; } }
    ";
    let shared = "
        public class Shared {
            int inThis, inField, inGlobal, inPart, bare;
            final Object mutex = new Object();
            Part part = new Part();
            synchronized void touchThis() { inThis++; helper(); }
            void helper() { inThis += 2; }
            void touchField() { synchronized (mutex) { inField++; deeper(this); } }
            static void deeper(Shared other) { other.inField += 2; }
            synchronized void touchPart() { part.touch(); }
            void touchBare() { bare++; }
        }
        class Part { int count; void touch() { count++; nested(this); }
            static void nested(Part part) { part.count += 2; } }
    ";
    let body = "shared.touchThis(); shared.touchField(); bump(); shared.touchPart();
        shared.touchBare();";
    let run = Run::of(&[("Main", &two_threads(members, body)), ("Shared", shared)]);
    assert_eq!(run.locks("Shared.touchThis", "inThis"), [["inside()"]]);
    assert_eq!(run.locks("Shared.helper", "inThis"), [["inside()"]]);
    assert_eq!(run.locks("Shared.touchField", "inField"), [["inside(mutex)"]]);
    assert_eq!(run.locks("Shared.deeper", "inField"), [["inside(mutex)"]]);
    assert_eq!(run.locks("Main.bump", "inGlobal"), [["unknown"]]);
    assert_eq!(run.locks("Part.touch", "count"), [["around(part)"]]);
    assert_eq!(run.locks("Part.nested", "count"), [["around(part)"]]);
    assert!(run.access("Shared.touchBare", "bare").locks.is_empty());
}

#[test]
fn an_object_is_fresh_until_others_can_know_it() {
    let members = "
        static void publish() {
            Shared made = new Shared();
            made.before = 1;
            fill(made);
            shared = made;
            made.after = 2;
        }
        static void fill(Shared it) { it.filled = 3; }
        static Shared make() { Shared it = new Shared(); it.made = 4; return it; }
        static void factory() { Shared it = make(); it.fromFactory = 5; shared = it; }
        static void use() { shared.before++; shared.after++; shared.filled++; shared.made++;
            shared.fromFactory++; shared.items.add(null); }
    ";
    let shared = "
        public class Shared { int before, after, filled, made, fromFactory;
            java.util.ArrayList<Object> items;
            Shared() { items = new java.util.ArrayList<>(); items.add(null); } }
    ";
    let body = "publish(); factory(); use();";
    let run = Run::of(&[("Main", &two_threads(members, body)), ("Shared", shared)]);
    assert!(run.access("Main.publish", "before").is_fresh);
    assert!(run.access("Main.fill", "filled").is_fresh);
    assert!(!run.access("Main.publish", "after").is_fresh);
    assert!(run.access("Main.make", "made").is_fresh);
    assert!(run.access("Main.factory", "fromFactory").is_fresh);
    assert!(run.accesses("Main.use", "before").iter().all(|seen| !seen.is_fresh));
    let contents = |method: &str| run.access(method, "contents");
    assert!(contents("Shared.<init>").is_fresh);
    assert!(!contents("Main.use").is_fresh);
    assert!(!contents("Main.use").is_atomic);
    assert!(
        run.accesses("Main.publish", "shared")
            .iter()
            .all(|seen| !seen.value_is_fresh || seen.kind == AccessKind::Write)
    );
}

#[test]
fn start_and_join_order_what_main_does() {
    let source = "
        public class Main {
            static int value;
            static int later;
            public static void main(String[] args) throws InterruptedException {
                value = 1;
                Thread one = new Thread(() -> { value++; });
                helperBefore();
                one.start();
                helperBetween();
                one.join();
                helperAfter();
            }
            static void helperBefore() { value += 2; }
            static void helperBetween() { value += 3; }
            static void helperAfter() { value += 4; }
        }
    ";
    let run = Run::of(&[("Main", source)]);
    let started = |method: &str| {
        let seen = run.access(method, "value");
        let may = seen.may_have_started.as_ref().map(|it| it.iter().count());
        (may, seen.has_joined.iter().count())
    };
    assert_eq!(started("Main.main"), (Some(0), 0));
    assert_eq!(started("Main.helperBefore"), (Some(0), 0));
    assert_eq!(started("Main.helperBetween"), (Some(1), 0));
    assert_eq!(started("Main.helperAfter"), (Some(1), 1));
    assert_eq!(run.recorded.controls.len(), 2);
}

#[test]
fn callees_start_and_join_for_their_callers() {
    let source = "
        public class Main {
            static int value;
            public static void main(String[] args) throws InterruptedException {
                Thread worker = new Thread(() -> { value++; });
                go(worker);
                between();
                halt(worker);
                after();
            }
            static void go(Thread it) { it.start(); }
            static void halt(Thread it) throws InterruptedException { it.join(); }
            static void between() { value += 3; }
            static void after() { value += 4; }
        }
    ";
    let run = Run::of(&[("Main", source)]);
    let between = run.access("Main.between", "value");
    assert_eq!(between.may_have_started.as_ref().map(|it| it.iter().count()), Some(1));
    assert_eq!(run.access("Main.after", "value").has_joined.iter().count(), 1);
    assert_eq!(run.recorded.controls.len(), 2);
}

#[test]
fn effects_of_a_joined_thread_are_known() {
    let source = "
        public class Main {
            public static void main(String[] args) throws InterruptedException {
                Worker[] workers = new Worker[4];
                for (int i = 0; i < 4; i++) { workers[i] = new Worker(); workers[i].start(); }
                workers[0].early++;
                for (int i = 0; i < 4; i++) { workers[i].join(); workers[i].result++; }
                Worker one = workers[1];
                one.join();
                take(one);
            }
            static void take(Worker it) { it.result += 2; }
        }
        class Worker extends Thread {
            int result, early;
            public void run() { result = 1; early = 2; help(); }
            void help() { result += 3; }
        }
    ";
    let run = Run::of(&[("Main", source)]);
    assert!(!run.access("Main.main", "early").is_joined);
    assert!(run.accesses("Main.main", "result").iter().all(|seen| seen.is_joined));
    assert!(run.access("Main.take", "result").is_joined);
    let own = run.access("Worker.help", "result");
    assert!(own.is_own_root && !own.is_joined);
}

#[test]
fn the_same_program_gives_the_same_events() {
    let recorded = || {
        let run = Run::of(&[("Main", PHILO)]);
        format!("{:?}{:?}", run.recorded.accesses, run.recorded.acquisitions)
    };
    assert_eq!(recorded(), recorded());
}

#[test]
fn executors_and_futures_are_joined() {
    let source = "
        import java.util.concurrent.*;
        public class Main {
            static int value;
            public static void main(String[] args) throws Exception {
                ExecutorService pool = Executors.newFixedThreadPool(2);
                for (int i = 0; i < 5; i++) pool.submit(() -> { value++; });
                pool.shutdown();
                if (!pool.awaitTermination(1, TimeUnit.MINUTES)) { tooEarly(); return; }
                done();
                Future<?> one = Executors.newSingleThreadExecutor().submit(Main::work);
                one.get();
                finished();
            }
            static void work() { value += 7; }
            static void tooEarly() { value = 0; }
            static void done() { value += 3; }
            static void finished() { value += 4; }
        }
    ";
    let run = Run::of(&[("Main", source)]);
    assert_eq!(run.access("Main.tooEarly", "value").has_joined.iter().count(), 0);
    assert_eq!(run.access("Main.done", "value").has_joined.iter().count(), 1);
    assert_eq!(run.access("Main.finished", "value").has_joined.iter().count(), 2);
}

#[test]
fn a_lock_that_was_tried_is_held_where_that_succeeded() {
    let shared = "
        import java.util.concurrent.locks.*;
        public class Shared {
            final ReentrantLock lock = new ReentrantLock();
            int tried, failed, after, locked, leftToCaller;
            void attempt() {
                if (lock.tryLock()) {
                    try { tried++; } finally { lock.unlock(); }
                } else { failed++; }
                after++;
            }
            void plain() { lock.lock(); try { locked++; } finally { lock.unlock(); } }
            void begin() { lock.lock(); }
            void end() { lock.unlock(); }
            void split() { begin(); leftToCaller++; end(); after++; }
        }
    ";
    let body = "shared.attempt(); shared.plain(); shared.split();";
    let run = Run::of(&[("Main", &two_threads("", body)), ("Shared", shared)]);
    assert_eq!(run.locks("Shared.attempt", "tried"), [["inside(lock)"]]);
    assert!(run.access("Shared.attempt", "failed").locks.is_empty());
    assert!(run.access("Shared.attempt", "after").locks.is_empty());
    assert_eq!(run.locks("Shared.plain", "locked"), [["inside(lock)"]]);
    assert_eq!(run.locks("Shared.split", "leftToCaller"), [["inside(lock)"]]);
    assert!(run.access("Shared.split", "after").locks.is_empty());
    let tried = run.recorded.acquisitions.iter().find(|(method, ..)| method == "Shared.attempt");
    assert_eq!(tried.map(|(_, _, gives_up, _)| *gives_up), Some(true));
}

#[test]
fn the_two_views_of_a_read_write_lock_are_one_lock() {
    let shared = "
        import java.util.concurrent.locks.*;
        public class Shared {
            private final ReadWriteLock both = new ReentrantReadWriteLock();
            private final Lock reading = both.readLock();
            private final Lock writing = both.writeLock();
            int value;
            int read() { reading.lock(); try { return value; } finally { reading.unlock(); } }
            void write() { writing.lock(); try { value = 1; } finally { writing.unlock(); } }
            int direct() { both.readLock().lock();
                try { return value; } finally { both.readLock().unlock(); } }
        }
    ";
    let body = "shared.read(); shared.write(); shared.direct();";
    let run = Run::of(&[("Main", &two_threads("", body)), ("Shared", shared)]);
    assert_eq!(run.locks("Shared.read", "value"), [["shared inside(both)"]]);
    assert_eq!(run.locks("Shared.write", "value"), [["inside(both)"]]);
    assert_eq!(run.locks("Shared.direct", "value"), [["shared inside(both)"]]);
}

#[test]
fn re_entrant_acquisitions_are_not_reported() {
    let shared = "
        public class Shared {
            int value;
            synchronized void outer() { inner(); synchronized (this) { value++; } }
            synchronized void inner() { value += 2; }
            synchronized void handOver(Shared other) { other.inner(); }
        }
    ";
    let body = "shared.outer(); shared.handOver(new Shared());";
    let run = Run::of(&[("Main", &two_threads("", body)), ("Shared", shared)]);
    assert_eq!(run.locks("Shared.outer", "value"), [["inside()"]]);
    let of = |method: &str| {
        run.recorded
            .acquisitions
            .iter()
            .filter(|recorded| recorded.0 == method)
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(of("Shared.outer").len(), 1);
    // Through `outer` it is held already.
    assert!(of("Shared.inner").iter().all(|(_, held, _, _)| *held == 1));
}

#[test]
fn lambdas_know_what_they_captured() {
    let source = "
        public class Main {
            public static void main(String[] args) {
                Shared shared = new Shared();
                Object mutex = new Object();
                Runnable task = () -> { synchronized (mutex) { shared.value++; } };
                new Thread(task).start();
                new Thread(task).start();
                synchronized (mutex) { shared.value += 2; }
                run(() -> shared.value += 3);
            }
            static void run(Runnable it) { it.run(); }
        }
    ";
    let shared = "public class Shared { int value; }";
    let run = Run::of(&[("Main", source), ("Shared", shared)]);
    let main = run.access("Main.main", "value");
    let inside = run.access("Main.lambda$main$0", "value");
    assert_eq!(main.object, inside.object);
    assert_eq!(inside.locks.len(), 1, "{inside:?}");
    assert_eq!(main.locks.len(), 1);
    assert!(run.access("Main.lambda$main$1", "value").locks.is_empty());
    assert!(run.heap.objects[main.object].properties.is_unique);
    assert_eq!(run.threads(inside), 1);
}

#[test]
fn flags_latches_and_queues_order_threads() {
    let source = "
        import java.util.concurrent.*;
        public class Main {
            static volatile boolean ready;
            static int data, other, queued;
            static final CountDownLatch latch = new CountDownLatch(1);
            static final BlockingQueue<String> queue = new LinkedBlockingQueue<>();
            static boolean isReady() { return ready; }
            public static void main(String[] args) throws Exception {
                new Thread(() -> { data = 1; ready = true; data = 2; latch.countDown(); }).start();
                new Thread(() -> { queued = 1; queue.add(\"\"); }).start();
                while (!isReady()) { unready(); }
                received();
                latch.await();
                both();
                queue.take();
                all();
            }
            static void unready() { other = data; }
            static void received() { other += data; }
            static void both() { other -= data; }
            static void all() { other = queued; }
        }
    ";
    let run = Run::of(&[("Main", source)]);
    assert_eq!(run.access("Main.unready", "data").has_received, 0);
    assert_eq!(run.access("Main.received", "data").has_received, 1);
    assert_eq!(run.access("Main.both", "data").has_received, 2);
    assert_eq!(run.access("Main.all", "queued").has_received, 3);
    let written = run.accesses("Main.lambda$main$0", "data");
    let published: Vec<bool> = written.iter().map(|seen| seen.may_have_published).collect();
    assert_eq!(published, [false, true]);
    assert!(run.accesses("Main.lambda$main$0", "ready").iter().all(|seen| seen.is_atomic));
}

#[test]
fn synchronized_collections_hold_their_own_lock() {
    let shared = "
        import java.util.*;
        public class Shared {
            final List<String> safe = Collections.synchronizedList(new ArrayList<>());
            final List<String> unsafe = new ArrayList<>();
            final Map<String, String> concurrent =
                new java.util.concurrent.ConcurrentHashMap<>();
            void touchSafe() { safe.add(\"\"); }
            void touchUnsafe() { unsafe.add(\"\"); }
            void touchConcurrent() { concurrent.put(\"\", \"\"); }
        }
    ";
    let body = "shared.touchSafe(); shared.touchUnsafe(); shared.touchConcurrent();";
    let run = Run::of(&[("Main", &two_threads("", body)), ("Shared", shared)]);
    assert_eq!(run.locks("Shared.touchSafe", "contents"), [["inside()"]]);
    assert!(run.access("Shared.touchUnsafe", "contents").locks.is_empty());
    assert!(!run.access("Shared.touchUnsafe", "contents").is_atomic);
    assert!(run.access("Shared.touchConcurrent", "contents").is_atomic);
}

#[test]
fn too_many_contexts_are_merged_and_lost_ones_are_listed() {
    let mut locks = String::new();
    let mut calls = String::new();
    for number in 0..40 {
        locks += &format!("static final Object lock{number} = new Object();\n");
        calls += &format!("synchronized (lock{number}) {{ shared.touch(); }}\n");
    }
    let shared = "public class Shared { int value; void touch() { value++; } }";
    let main = two_threads(&locks, &calls);
    let sources = [("Main", &*main), ("Shared", shared)];
    let limits = ExecutionLimits { contexts_per_method: 4, ..ExecutionLimits::default() };
    let run = Run::with(&sources, &limits);
    let counters = run.counters();
    assert!(counters.merged > 0, "{counters:?}");
    assert!(run.executed.lost_context.is_empty());
    // At most six times the limit, and one of them without locks; each reads and writes.
    let seen = run.accesses("Shared.touch", "value");
    assert!(seen.len() <= 2 * 24, "{}", seen.len());
    assert!(seen.iter().any(|seen| seen.locks.is_empty()));
    let precise = Run::with(
        &sources,
        &ExecutionLimits { contexts_per_method: 64, ..ExecutionLimits::default() },
    );
    assert!(precise.accesses("Shared.touch", "value").iter().all(|seen| seen.locks.len() == 1));

    let late = Run::within(&sources, &ExecutionLimits::default(), &|| true);
    assert!(late.counters().is_cut_short);
    assert!(late.recorded.is_finished);
    let seen = late.accesses("Shared.touch", "value");
    assert!(seen.iter().all(|seen| seen.locks.is_empty()));
}
