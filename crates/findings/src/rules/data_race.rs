//! Rule `data-race`.

use crate::Severity;

super::rule! {
    /// # data-race
    ///
    /// Two threads can access the same variable at the same time, and at least one of them writes it.
    ///
    /// ## Why it matters
    ///
    /// Updates are lost, a reader sees the old value for as long as it likes or parts of an object that
    /// is not ready yet, and a `long` or a collection can be torn to pieces. None of this shows in a test
    /// with one thread, and seldom in one with several.
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
    ///         if (thread != null) {          // read by whoever cancels it
    ///             thread.interrupt();        // and null by now, perhaps
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
    /// Or hand the variable over through something that orders: `Thread.start` and `join`, a queue, a latch; or make
    /// it `volatile` or atomic, if each access stands for itself.
    ///
    /// ## How findings are graded
    ///
    /// One finding is made of each field, with the pair of accesses that shows it best.
    ///
    /// - `high`: there is no lock that all of these accesses hold; or every thread holds a lock of its own, which
    ///   keeps nobody out. What is in collections such as `HashMap` and `ArrayList`, which are not made for several
    ///   threads, counts as a variable too;
    /// - `medium`: all writes hold a lock and a read does not, so that it may see an old value or half of an update; one
    ///   variable is guarded by a lock of which there may be many; a `boolean` that only ever goes one way should be
    ///   volatile; a number is only ever counted up, and counts are lost; several threads write what is read when all
    ///   is over;
    /// - `low`: all accesses hold a lock that lies beside the data, and only the analysis cannot tell that it is the
    ///   right one; several threads write what nobody reads; a cache of a number or an immutable object that any thread
    ///   may fill, as `String.hashCode` does. Not shown unless asked for with `--level low`.
    ///
    /// In a large program not all objects can be told apart. What cannot be told from dozens of other classes, what is
    /// one of many in a collection, and what each thread of a kind has for itself, is `medium` at most, and only if most
    /// of the accesses hold a lock that was taken for them; else it is `low`. So are fields of iterators there. Static
    /// fields, the only object of a class, and what these and threads keep in fields of their own are graded as above.
    ///
    /// `--strict` reports without recognising these idioms, and elements of arrays too, which are one variable for the
    /// analysis: threads that work on different parts of one array look like threads that work on the same part.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// It looks at the whole program: every thread that is started or submitted, or that a framework is known to run, and
    /// all objects that more than one of them may know. It takes for safe what is done to an object before others know
    /// it, before a thread is started and after it was waited for, by threads on their own object, under one lock,
    /// through volatile and atomic variables, latches, barriers and queues. Objects that the program keeps apart in
    /// ways that the code does not show (a pool that lends each object to one thread, a semaphore made by hand, numbers
    /// that decide who works on what) are reported all the same: suppress those, with the reason. Reflection, native
    /// code and missing classes can hide accesses.
    static RULE = {
        name: "data-race",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "two threads can access a variable at the same time, and one of them writes it",
        message: "data race on `{variable}` in `{blame}`: {why}",
        roles: &[
            ("first", "`{thread}` {verb} `{subject}` here"),
            ("second", "`{thread}` {verb} it here, perhaps at the same time"),
        ],
        advice: "guard every access to `{variable}` with the same lock, or make it volatile if each access stands for itself",
    }
}
