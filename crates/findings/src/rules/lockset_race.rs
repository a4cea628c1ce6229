//! Rule `lockset-race`.

use crate::Severity;

super::rule! {
    /// # lockset-race
    ///
    /// In an observed run, several threads used a variable, one of them wrote it, and no lock was held at
    /// every access.
    ///
    /// ## Why it matters
    ///
    /// Where every access to shared data holds the same lock, no two of them can meet. Where none is
    /// held at all of them, some other order of the same run may let two accesses meet, even if they were far
    /// apart this time. That is why this rule finds what `happens-before-race` only finds in the unlucky
    /// run.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Counter {
    ///     private int count;
    ///
    ///     synchronized void add() { count++; }
    ///
    ///     void reset() { count = 0; }      // without the lock
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold one lock at every access, the same one for each object:
    ///
    /// ```java
    /// synchronized void reset() { count = 0; }
    /// ```
    ///
    /// A read-write lock will do: it must be held exclusively to write, and in any way to read. What is
    /// handed from thread to thread without a lock is better made `volatile`, or passed through a queue.
    ///
    /// ## When it looks
    ///
    /// The monitor is not on by default: `scission run --monitor eraser` chooses it, also beside others.
    /// A variable may be set up by one thread without a lock, and be read by all without a lock if nobody
    /// writes it any more.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// It knows locks and nothing else. Data that is handed over by starting or joining a thread, by a queue,
    /// a latch or a volatile flag is reported although nothing can go wrong: look whether
    /// `happens-before-race` agrees. It misses what the first thread does without the lock before a second
    /// one comes. Volatile fields and atomics are not looked at.
    static RULE = {
        name: "lockset-race",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "several threads used a variable in an observed run, and no lock was held at every access",
        message: "no lock guards `{variable}`, which several threads use: with this access in `{blame}` none was held at all of them",
        roles: &[
            ("first", "`{thread}` {verb} `{subject}` here"),
            ("second", "`{thread}` {verb} it here, and no lock was held at every access so far"),
        ],
        advice: "hold the same lock at every access to `{variable}`, or make it volatile if it is only handed over",
    }
}
