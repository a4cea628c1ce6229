//! Rule `critical-wait`.

use crate::Severity;

super::rule! {
    /// # critical-wait
    ///
    /// A thread waits for a notification while it holds another lock. Waiting releases the lock of the object that is
    /// waited on, and no other.
    ///
    /// ## Why it matters
    ///
    /// Every thread that needs the other lock blocks until the waiting thread is notified. If the notifying thread needs
    /// that lock itself, the notification never comes, and both threads are stuck.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Depot {
    ///     private final Object changed = new Object();
    ///     private int stock;
    ///
    ///     synchronized void take() throws InterruptedException {
    ///         synchronized (changed) {
    ///             while (stock == 0) changed.wait();   // releases `changed`, keeps `this`
    ///             stock--;
    ///         }
    ///     }
    ///
    ///     synchronized void put() {                    // blocks for ever
    ///         synchronized (changed) {
    ///             stock++;
    ///             changed.notifyAll();
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Wait on the outermost lock, and hold no other while waiting:
    ///
    /// ```java
    /// synchronized void take() throws InterruptedException {
    ///     while (stock == 0) wait();
    ///     stock--;
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: every thread that sends the notification needs the held lock first;
    /// - `medium`: other threads need the held lock, but some notifying thread does not, or it is not certain that it is the
    ///   same object;
    /// - `low`: other threads acquire such a lock, but no notifying thread does, and it may be another object. Shown with
    ///   `--level low` only.
    ///
    /// Waits with a timeout are not reported, and neither are locks that no other thread acquires.
    ///
    /// ## Limitations
    ///
    /// Waiting in latches, queues, semaphores and futures is not analysed. Two objects that the analysis cannot distinguish
    /// are treated as one.
    static RULE = {
        name: "critical-wait",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a thread waits for a notification while it holds another lock",
        message: "`{blame}` waits on `{object}` while it holds `{lock}`",
        roles: &[
            ("holds", "`{lock}` is acquired here"),
            ("waits", "the thread waits here: this releases `{object}`, but not `{lock}`"),
            ("needs", "the thread that notifies it needs `{lock}` here"),
        ],
        advice: "release `{lock}` before waiting, or wait on `{lock}` itself",
    }
}
