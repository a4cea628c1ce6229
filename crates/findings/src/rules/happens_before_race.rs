//! Rule `happens-before-race`.

use crate::Severity;

super::rule! {
    /// # happens-before-race
    ///
    /// In an observed run, two threads accessed the same variable, at least one of them wrote it, and
    /// nothing ordered the two accesses.
    ///
    /// ## Why it matters
    ///
    /// Without an order the reader may see the old value for as long as it likes, or parts of an object
    /// that is not ready yet; the compiler and the processor may rearrange the code on either side.
    /// That the accesses came in a harmless order this time means nothing for the next time.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Worker implements Runnable {
    ///     private boolean stopped;
    ///
    ///     public void run() {
    ///         while (!stopped) { step(); }     // may never see that it was stopped
    ///     }
    ///
    ///     void stop() { stopped = true; }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Guard the variable with one lock, make it `volatile`, or hand it over through something that
    /// orders: a queue, a latch, `Thread.start` and `join`.
    ///
    /// ```java
    /// private volatile boolean stopped;
    /// ```
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// It sees one run, and takes the order that locks happened to be taken in for an order of the accesses.
    /// After the first race on a variable others on the same variable may be missed. Synchronisation inside
    /// library code is known through models; where a model is missing, a race may be reported that the
    /// library prevents.
    static RULE = {
        name: "happens-before-race",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "two threads accessed a variable in an observed run, and nothing ordered the accesses",
        message: "data race on `{variable}` in `{blame}`: nothing orders two accesses, one of them a write",
        roles: &[
            ("first", "`{thread}` {verb} `{subject}` here"),
            ("second", "`{thread}` {verb} it here, and nothing puts that after the first"),
        ],
        advice: "guard every access to `{variable}` with the same lock, or make it volatile",
    }
}
