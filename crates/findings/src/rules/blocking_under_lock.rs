//! Rule `blocking-under-lock`.

use crate::Severity;

super::rule! {
    /// # blocking-under-lock
    ///
    /// A thread sleeps, joins another thread, waits for a result or for input while it holds a lock; in the method that holds the
    /// lock, or in one that it calls.
    ///
    /// ## Why it matters
    ///
    /// Everybody who needs the lock waits as well. If the thread that is waited for needs it, both are stuck.
    ///
    /// ## Example
    ///
    /// ```java
    /// synchronized void stop() throws InterruptedException {
    ///     running = false;
    ///     worker.join();          // the worker may need `this` to end
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Wait after the lock is released:
    ///
    /// ```java
    /// void stop() throws InterruptedException {
    ///     synchronized (this) {
    ///         running = false;
    ///     }
    ///     worker.join();
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `medium`: the method itself sleeps, or waits for the end of a thread or a task without a timeout;
    /// - `low`: a method that it calls does; or it waits for something else, such as input or a queue: a lock may be there for
    ///   that very purpose. Shown with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// Calls are followed three deep where one method alone can be meant. Waiting for another lock is the business of
    /// `lock-order-cycle`, waiting for a notification that of `critical-wait`.
    static RULE = {
        name: "blocking-under-lock",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a thread sleeps or waits for another one while it holds a lock",
        message: "`{blame}` {what} while it holds `{lock}`",
        roles: &[
            ("blocks", "`{lock}` stays held meanwhile"),
        ],
        advice: "release `{lock}` first",
    }
}
