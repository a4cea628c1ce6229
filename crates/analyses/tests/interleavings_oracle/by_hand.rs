//! Programs whose verdict is known: the oracle is checked against them, and then the analyses.

/// A program with what its interleavings show.
pub(crate) struct Case {
    pub(crate) title: &'static str,
    /// The members of the class.
    pub(crate) members: &'static str,
    /// The variables that are raced on.
    pub(crate) races: &'static [&'static str],
    /// The locks of each deadlock, sorted and joined by a space; `join` where a thread waits for the end of
    /// another, `asleep` where one is never woken.
    pub(crate) deadlocks: &'static [&'static str],
    /// The methods whose calls are not atomic.
    pub(crate) not_atomic: &'static [&'static str],
}

/// Two threads that both do what is given, on one store.
macro_rules! twice {
    ($store:literal, $body:literal) => {
        concat!(
            "static class Store {\n",
            $store,
            "\n}\nstatic class W extends Thread {\nfinal Store store;\n",
            "W(Store store) { this.store = store; }\npublic void run() {\n",
            $body,
            "\n}\n}\npublic static void main(String[] arguments) throws InterruptedException {\n",
            "Store store = new Store();\nThread one = new W(store);\nThread two = new W(store);\n",
            "one.start();\ntwo.start();\none.join();\ntwo.join();\n}\n"
        )
    };
}

/// Two threads that do different things, on one store.
macro_rules! both {
    ($store:literal, $first:literal, $second:literal) => {
        concat!(
            "static class Store {\n",
            $store,
            "\n}\npublic static void main(String[] arguments) throws InterruptedException {\n",
            "Store store = new Store();\nThread one = new Thread(() -> {\n",
            $first,
            "\n});\nThread two = new Thread(() -> {\n",
            $second,
            "\n});\none.start();\ntwo.start();\none.join();\ntwo.join();\n}\n"
        )
    };
}

pub(crate) static CASES: &[Case] = &[
    Case {
        title: "an unlocked counter",
        members: twice!("int x;", "int a = store.x;\nstore.x = a + 1;"),
        races: &["Store.x"],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "an unlocked counter in a method",
        members: twice!("int x;\nvoid add() {\nint a = x;\nx = a + 1;\n}", "store.add();"),
        races: &["Store.x"],
        deadlocks: &[],
        not_atomic: &["Store.add"],
    },
    Case {
        title: "a locked counter",
        members: twice!(
            "int x;\nsynchronized void add() {\nint a = x;\nx = a + 1;\n}",
            "store.add();"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "two locks for one variable",
        members: both!(
            "int x;\nfinal Object lock = new Object();",
            "synchronized (store) {\nstore.x = 1;\n}",
            "synchronized (store.lock) {\nstore.x = 2;\n}"
        ),
        races: &["Store.x"],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "reads alone do not race",
        members: twice!("int x = 3;\nint get() {\nreturn x;\n}", "store.get();"),
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "a volatile variable does not race, and adding to it is not atomic",
        members: twice!("volatile int x;\nvoid add() {\nint a = x;\nx = a + 1;\n}", "store.add();"),
        races: &[],
        deadlocks: &[],
        not_atomic: &["Store.add"],
    },
    Case {
        title: "a value is handed over by a volatile flag",
        members: both!(
            "int x;\nvolatile int ready;",
            "store.x = 1;\nstore.ready = 1;",
            "if (store.ready == 1) {\nint a = store.x;\n}"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "what comes before the start and after the join is ordered",
        members: "static class Store {\nint x;\n}\n\
            public static void main(String[] arguments) throws InterruptedException {\n\
            Store store = new Store();\nstore.x = 1;\n\
            Thread one = new Thread(() -> {\nint a = store.x;\nstore.x = a + 1;\n});\n\
            one.start();\none.join();\nint a = store.x;\n}\n",
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "what comes between the start and the join is not",
        members: "static class Store {\nint x;\n}\n\
            public static void main(String[] arguments) throws InterruptedException {\n\
            Store store = new Store();\nstore.x = 1;\n\
            Thread one = new Thread(() -> {\nint a = store.x;\nstore.x = a + 1;\n});\n\
            one.start();\nint a = store.x;\none.join();\n}\n",
        races: &["Store.x"],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "threads that work on stores of their own",
        members: "static class Store {\nint x;\nvoid add() {\nint a = x;\nx = a + 1;\n}\n}\n\
            public static void main(String[] arguments) {\n\
            Store s0 = new Store();\nStore s1 = new Store();\n\
            Thread one = new Thread(() -> {\ns0.add();\n});\n\
            Thread two = new Thread(() -> {\ns1.add();\n});\n\
            one.start();\ntwo.start();\n}\n",
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "a static lock and a static variable",
        members: twice!(
            "static int total;\nstatic final Object LOCK = new Object();",
            "synchronized (Store.LOCK) {\nint a = Store.total;\nStore.total = a + 1;\n}"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "an explicit lock",
        members: twice!(
            "int x;\nfinal java.util.concurrent.locks.ReentrantLock lock =\n\
             new java.util.concurrent.locks.ReentrantLock();\n\
             void add() {\nlock.lock();\ntry {\nint a = x;\nx = a + 1;\n} finally {\nlock.unlock();\n}\n}",
            "store.add();"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "two locks in both orders",
        members: both!(
            "final Object one = new Object();\nfinal Object two = new Object();",
            "synchronized (store.one) {\nsynchronized (store.two) {\n}\n}",
            "synchronized (store.two) {\nsynchronized (store.one) {\n}\n}"
        ),
        races: &[],
        deadlocks: &["Store.one Store.two"],
        not_atomic: &[],
    },
    Case {
        title: "two locks in both orders behind a third",
        members: both!(
            "final Object one = new Object();\nfinal Object two = new Object();\n\
             static final Object GATE = new Object();",
            "synchronized (Store.GATE) {\nsynchronized (store.one) {\nsynchronized (store.two) {\n}\n}\n}",
            "synchronized (Store.GATE) {\nsynchronized (store.two) {\nsynchronized (store.one) {\n}\n}\n}"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "two locks in both orders, one thread after the other",
        members: "static final Object ONE = new Object();\nstatic final Object TWO = new Object();\n\
            public static void main(String[] arguments) throws InterruptedException {\n\
            Thread one = new Thread(() -> {\n\
            synchronized (ONE) {\nsynchronized (TWO) {\n}\n}\n});\n\
            Thread two = new Thread(() -> {\n\
            synchronized (TWO) {\nsynchronized (ONE) {\n}\n}\n});\n\
            one.start();\none.join();\ntwo.start();\n}\n",
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "two objects of one class, each locked inside the other",
        members: "static class Store {\nint x;\nsynchronized void take(Store that) {\n\
            synchronized (that) {\nint a = that.x;\nx = a;\n}\n}\n}\n\
            public static void main(String[] arguments) {\n\
            Store s0 = new Store();\nStore s1 = new Store();\n\
            Thread one = new Thread(() -> {\ns0.take(s1);\n});\n\
            Thread two = new Thread(() -> {\ns1.take(s0);\n});\n\
            one.start();\ntwo.start();\n}\n",
        races: &[],
        deadlocks: &["Store"],
        not_atomic: &[],
    },
    Case {
        title: "waiting for the end of a thread that wants a lock that one holds",
        members: "static final Object LOCK = new Object();\n\
            public static void main(String[] arguments) throws InterruptedException {\n\
            Thread one = new Thread(() -> {\nsynchronized (LOCK) {\n}\n});\n\
            synchronized (LOCK) {\none.start();\none.join();\n}\n}\n",
        races: &[],
        deadlocks: &["join"],
        not_atomic: &[],
    },
    Case {
        title: "an account that is read and written in two blocks",
        members: twice!(
            "int x;\nsynchronized int get() {\nreturn x;\n}\nvoid update(int n) {\nint a = get();\n\
             synchronized (this) {\nx = a + n;\n}\n}",
            "store.update(5);"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &["Store.update"],
    },
    Case {
        title: "check, then act",
        members: twice!(
            "int x;\nsynchronized int get() {\nreturn x;\n}\nsynchronized void set(int n) {\nx = n;\n}\n\
             void once() {\nif (get() == 0) {\nset(1);\n}\n}",
            "store.once();"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &["Store.once"],
    },
    Case {
        title: "two variables that are read one after the other",
        members: both!(
            "int x;\nint y;\nsynchronized int getX() {\nreturn x;\n}\n\
             synchronized int getY() {\nreturn y;\n}\nint sum() {\nint a = getX();\nreturn a + getY();\n}\n\
             synchronized void set(int n) {\nx = n;\ny = n;\n}",
            "store.sum();",
            "store.set(1);"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &["Store.sum"],
    },
    Case {
        title: "a call that is not atomic does not make those around it worse",
        members: twice!(
            "int x;\nvoid inner() {\nint a;\nsynchronized (this) {\na = x;\n}\n\
             synchronized (this) {\nx = a + 1;\n}\n}\nvoid outer() {\ninner();\n}",
            "store.outer();"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &["Store.inner"],
    },
    Case {
        title: "waiting for what nobody says",
        members: both!(
            "final Object lock = new Object();",
            "synchronized (store.lock) {\ntry {\nstore.lock.wait();\n} catch (InterruptedException e) {\n}\n}",
            "synchronized (store.lock) {\n}"
        ),
        races: &[],
        deadlocks: &["asleep"],
        not_atomic: &[],
    },
    Case {
        title: "waiting until a flag is set",
        members: both!(
            "int x;\nfinal Object lock = new Object();",
            "synchronized (store.lock) {\nif (store.x == 0) {\ntry {\nstore.lock.wait();\n\
             } catch (InterruptedException e) {\n}\n}\nint a = store.x;\n}",
            "synchronized (store.lock) {\nstore.x = 1;\nstore.lock.notifyAll();\n}"
        ),
        races: &[],
        deadlocks: &[],
        not_atomic: &[],
    },
    Case {
        title: "waiting while a lock is held that the other thread needs first",
        members: both!(
            "int x;\nfinal Object lock = new Object();",
            "synchronized (store) {\nsynchronized (store.lock) {\nif (store.x == 0) {\ntry {\n\
             store.lock.wait();\n} catch (InterruptedException e) {\n}\n}\n}\n}",
            "synchronized (store) {\nsynchronized (store.lock) {\nstore.x = 1;\nstore.lock.notify();\n}\n}"
        ),
        races: &[],
        deadlocks: &["asleep"],
        not_atomic: &[],
    },
];
