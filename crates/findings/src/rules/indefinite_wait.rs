//! Rule `indefinite-wait`.

use crate::Severity;

super::rule! {
    /// # indefinite-wait
    ///
    /// A thread waits on an object, without a time limit, and no other thread ever signals that object.
    ///
    /// ## Why it matters
    ///
    /// The thread never goes on; what it holds and what it should have done is lost with it.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Gate {
    ///     private final Object opened = new Object();
    ///     private boolean isOpen;
    ///
    ///     void pass() throws InterruptedException {
    ///         synchronized (opened) {
    ///             while (!isOpen) opened.wait();
    ///         }
    ///     }
    ///
    ///     synchronized void open() {
    ///         isOpen = true;
    ///         notifyAll();            // wakes those who wait on the gate, and nobody does
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Signal the object that is waited on, whenever the condition may have become true:
    ///
    /// ```java
    /// void open() {
    ///     synchronized (opened) {
    ///         isOpen = true;
    ///         opened.notifyAll();
    ///     }
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `medium`: nobody signals;
    /// - `low`: code that is not part of the program knows the object, and may signal it. Not shown unless
    ///   asked for with `--level low`.
    ///
    /// Waits with a time limit are silent, and so are waits on threads, whose end wakes everybody.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// A notification that exists but is not given, or is given too early, is not missed here. A thread that is only
    /// meant to be interrupted is reported.
    static RULE = {
        name: "indefinite-wait",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a thread waits for a notification that nobody gives",
        message: "`{blame}` waits on `{object}`, and nobody signals it",
        roles: &[("waits", "the thread waits here, without a time limit")],
        advice: "signal `{object}` where the condition becomes true, or wait with a time limit",
    }
}
