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
    /// If every access to shared data holds the same lock, no two of them can happen at the same time. If no lock is held
    /// at all of them, another order of the same run may let two accesses race, even if they were far apart this time.
    /// That is why this rule finds what `happens-before-race` finds only in an unlucky run.
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
    /// A read-write lock works too: writes must hold it exclusively, reads in any mode. Data that is transferred from thread
    /// to thread without a lock should be `volatile`, or pass through a queue.
    ///
    /// ## How to enable it
    ///
    /// The checker is off by default: `scission run --monitor eraser` enables it, alone or together with others.
    /// One thread may initialise a variable without a lock, and all may read it without a lock if no thread writes it any
    /// more.
    ///
    /// ## Limitations
    ///
    /// The rule considers locks and nothing else. Data that is transferred by starting or joining a thread, by a queue,
    /// a latch or a volatile flag is reported although nothing can go wrong: check whether `happens-before-race` reports it
    /// as well. Accesses of the first thread without the lock, before a second thread uses the variable, are missed. Volatile
    /// fields and atomics are not checked.
    static RULE = {
        name: "lockset-race",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "several threads used a variable in an observed run, and no lock was held at every access",
        message: "no lock guards `{variable}`, which several threads use: after this access in `{blame}`, none was held at all of them",
        roles: &[
            ("first", "`{thread}` {verb} `{subject}` here"),
            ("second", "`{thread}` {verb} it here, and no lock was held at every access so far"),
        ],
        advice: "hold the same lock at every access to `{variable}`, or make it volatile if it is only passed between threads",
    }
}
