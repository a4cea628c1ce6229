//! Rule `happens-before-race`.

use crate::Severity;

super::rule! {
    /// # happens-before-race
    ///
    /// In an observed run, two threads accessed the same variable, at least one of them wrote it, and nothing ordered
    /// the two accesses.
    ///
    /// ## Why it matters
    ///
    /// Without an order, the reader can see the old value indefinitely, or an object that is only partly
    /// initialised; the compiler and the processor may reorder the code on either side. That the accesses happened in a
    /// harmless order this time says nothing about the next run.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Worker implements Runnable {
    ///     private boolean stopped;
    ///
    ///     public void run() {
    ///         while (!stopped) { step(); }     // may never see the write
    ///     }
    ///
    ///     void stop() { stopped = true; }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Guard the variable with one lock, make it `volatile` if it is no count, or transfer it through something that orders the
    /// accesses: a queue, a latch, `Thread.start` and `join`.
    ///
    /// ```java
    /// private volatile boolean stopped;
    /// ```
    ///
    /// ## Limitations
    ///
    /// It judges one run, and treats the order in which locks happened to be acquired as an order of the accesses.
    /// After the first race on a variable, further races on the same variable can be missed. Synchronisation inside
    /// library code is known through models; where a model is missing, a race may be reported that the library
    /// prevents.
    static RULE = {
        name: "happens-before-race",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "two threads accessed a variable in an observed run, and nothing ordered the accesses",
        message: "data race on `{variable}` in `{blame}`: nothing orders two accesses, one of them a write",
        roles: &[
            ("first", "`{thread}` {verb} `{subject}` here"),
            ("second", "`{thread}` {verb} it here, and nothing orders this after the first access"),
        ],
        advice: "guard every access to `{variable}` with the same lock, or make it volatile if it is no collection and nothing that is written depends on what was read",
    }
}
