//! Rule `critical-wait`.

use crate::Severity;

super::rule! {
    /// # critical-wait
    ///
    /// A thread waits for a notification and keeps another lock meanwhile. Waiting gives back the lock that belongs to
    /// it, and no other.
    ///
    /// ## Why it matters
    ///
    /// Whoever needs the kept lock stops until the waiting thread is woken. When the waker itself needs
    /// it, the waiting thread is never woken, and both are lost.
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
    ///             while (stock == 0) changed.wait();   // gives back `changed`, keeps `this`
    ///             stock--;
    ///         }
    ///     }
    ///
    ///     synchronized void put() {                    // never gets in
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
    /// - `high`: everybody who gives the notification needs the kept lock first;
    /// - `medium`: other threads need the kept lock, but some waker gets through without it, or it is not
    ///   certain that it is the same object;
    /// - `low`: others take such a lock, but no waker does, and it may be another object. Not shown unless asked
    ///   for with `--level low`.
    ///
    /// Waits with a time limit are silent, and so are locks that no other thread takes.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// Waiting in latches, queues, semaphores and futures is not looked at. Two objects that the analysis cannot tell
    /// apart are taken for the same.
    static RULE = {
        name: "critical-wait",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a thread waits for a notification while it keeps another lock",
        message: "`{blame}` waits on `{object}` and keeps `{lock}` meanwhile",
        roles: &[
            ("holds", "`{lock}` is taken here"),
            ("waits", "the thread waits here: it gives back `{object}`, but not `{lock}`"),
            ("needs", "who wakes it needs `{lock}` here"),
        ],
        advice: "give `{lock}` back before waiting, or wait on `{lock}` itself",
    }
}
