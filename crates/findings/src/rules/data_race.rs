//! Rule `data-race`.

use crate::Severity;

super::rule! {
    /// # data-race
    ///
    /// Two threads can access the same variable at the same time, and at least one of them writes it.
    ///
    /// ## Why it matters
    ///
    /// Updates are lost. A reader can see an old value indefinitely, or an object that is only partly
    /// initialised. A `long` can be read half updated, and the internal state of a collection can be corrupted.
    /// Tests rarely show it: it depends on timing, on the compiler and on the processor.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Task implements Runnable {
    ///     private Thread thread = Thread.currentThread();
    ///
    ///     public void run() {
    ///         work();
    ///         thread = null;                 // written by the task
    ///     }
    ///
    ///     synchronized void cancel() {
    ///         if (thread != null) {          // read by the thread that cancels
    ///             thread.interrupt();        // `thread` may be null by now
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold one lock at every access, reads included:
    ///
    /// ```java
    /// synchronized (this) {
    ///     thread = null;
    /// }
    /// ```
    ///
    /// Or transfer the variable through something that orders the accesses: `Thread.start` and `join`, a queue, a latch.
    /// Make it an atomic variable if it is counted. Make it `volatile` only if nothing that is written depends on what was read:
    /// see `volatile-increment`.
    ///
    /// ## How findings are graded
    ///
    /// There is one finding per field, with the pair of accesses that shows the race best.
    ///
    /// - `high`: no lock is held at all of these accesses, or each thread holds a different lock object. The contents of
    ///   collections such as `HashMap` and `ArrayList`, which are not thread-safe, count as a variable too;
    /// - `medium`: all writes hold a lock and a read does not, so that it can see an old value or half of an update; one
    ///   variable is guarded by a lock of which there may be several instances; a caller of a library, or a worker of a
    ///   pool that the program does not have, sees late at worst what another thread sets (where an update is lost, a
    ///   collection breaks, or a reference is set to `null` between its test and its use, it is `high`); a `boolean` that changes only once should be
    ///   volatile; a number is only incremented, and increments are lost; several threads write what is read after all of
    ///   them have finished;
    /// - `low`: all accesses hold a lock that is stored next to the data, but the analysis cannot prove that it is the same
    ///   lock; several threads write what no thread reads; a cache of a number or an immutable object that any thread may
    ///   fill, as in `String.hashCode`. Shown with `--level low` only.
    ///
    /// In a large program the analysis cannot distinguish all objects. An object that it cannot distinguish from dozens of
    /// other classes, one of many elements of a collection, and an object that each thread of a kind has for itself, is
    /// `medium` at most, and only if most accesses hold a lock that was acquired for them; otherwise it is `low`. So are
    /// fields of iterators there. Static fields, the only instance of a class, and what these and threads keep in their own
    /// fields are graded as above.
    ///
    /// `--strict` reports without recognising these idioms, and includes the elements of arrays. All elements of an array are
    /// one variable for the analysis: threads that work on different parts of an array are reported as well.
    ///
    /// ## Limitations
    ///
    /// The analysis covers the whole program: every thread that is started or submitted, or that a framework is known to
    /// run, and all objects that more than one of them may reach. It treats as safe what is done to an object before other
    /// threads can reach it, before a thread is started and after it was joined, by each thread on its own object, under a
    /// common lock, and through volatile and atomic variables, latches, barriers and queues. Objects that the program
    /// separates in ways that the code does not show (a pool that lends each object to one thread, a hand-written semaphore,
    /// indices that decide which thread works on what) are reported although they are safe: suppress these findings and state
    /// the reason. Reflection, native code and missing classes can hide accesses.
    static RULE = {
        name: "data-race",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "two threads can access a variable at the same time, and one of them writes it",
        message: "data race on `{variable}` in `{blame}`: {why}",
        roles: &[
            ("first", "`{thread}` {verb} `{subject}` here"),
            ("second", "`{thread}` {verb} it here, possibly at the same time"),
        ],
        advice: "guard every access to `{variable}` with the same lock, or make it volatile if nothing that is written depends on what was read: volatile makes no increment atomic",
    }
}
