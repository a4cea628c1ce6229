//! Rule `hang`.

use crate::Severity;

super::rule! {
    /// # hang
    ///
    /// All threads of a program wait without a limit, and none is left that could wake one of them.
    ///
    /// ## Why it matters
    ///
    /// The program never ends and never goes on, and nothing says so: a build hangs until somebody kills it.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Box {
    ///     private Object content;
    ///
    ///     synchronized void put(Object it) {
    ///         content = it;
    ///         notify();
    ///     }
    ///
    ///     synchronized Object take() throws InterruptedException {
    ///         wait();                 // `put` may have been called before: nobody notifies again
    ///         return content;
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Wait in a loop that checks a condition, `while (content == null) wait();`, and make it true in every case: permits
    /// and locks are given back and latches counted down in a `finally` block, futures are completed also when something
    /// fails, producers say that no more will come. Hold no other lock while waiting.
    ///
    /// ## Evidence
    ///
    /// `observed`: no thread has moved for `--hang-after` seconds (30 unless set), and then all threads of the JVM were found
    /// waiting without a limit, in several looks: for a monitor, a notification, a lock, a permit, a latch, a barrier, an
    /// element, a result, the end of a thread, the initialiser of a class. The finding names each thread with what it waits in, how it
    /// came there and which locks it holds. It does not take that long, but some two seconds, where nobody could mean it: a thread wants
    /// a lock that another one holds which waits for something else, all wait for results and ends of each other, or virtual
    /// threads have nothing to run on. Threads that wait for each other in a cycle are a [`deadlock`](deadlock.md) instead.
    ///
    /// A server that waits for requests does not hang: one of its threads waits in the operating system. Neither does a
    /// program with a thread that waits for some time only. Idle threads of pools and the threads of the JVM do not count.
    ///
    /// ## Limitations
    ///
    /// A thread that sleeps now and then could wake others, so that there is no report then; only a daemon that sleeps, and executes no
    /// tasks of a pool or timer, does not count where a thread has wanted a lock all the time that is held by one which waits
    /// as well. The same holds for a
    /// wait with a limit, even if that is three hundred years (`awaitTermination(Long.MAX_VALUE, …)`): the JVM does not say how long. Where the
    /// program has shutdown hooks or handlers of signals, there is no report before `--hang-after` has passed, and none if a single
    /// thread waits as those do that keep a server alive, unless `--hang-after` is given.
    /// Threads that only native code knows are not seen.
    static RULE = {
        name: "hang",
        on_by_default: true,
        default_level: Severity::Low,
        summary: "all threads of the program wait, and none is left to wake them",
        message: "hang in `{blame}`: {cause}",
        roles: &[
            ("holds", "`{thread}` acquired `{subject}` here and holds it"),
            ("waits", "`{thread}` {verb} `{subject}` here"),
        ],
        advice: "{remedy}",
    }
}
