//! Rule `notify-without-change`.

use crate::Severity;

super::rule! {
    /// # notify-without-change
    ///
    /// `notify` or `signal` is called by a method that changes nothing, and neither do its callers.
    ///
    /// ## Why it matters
    ///
    /// A thread that waits in a loop asks for its condition again and finds it as before: the notification is useless. If it does
    /// not ask, the notification itself is the message, and is lost if it comes before the wait.
    ///
    /// ## Example
    ///
    /// ```java
    /// void wakeUp() {
    ///     synchronized (lock) {
    ///         lock.notifyAll();       // what has changed?
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Set what the waiting threads ask for:
    ///
    /// ```java
    /// synchronized (lock) {
    ///     ready = true;
    ///     lock.notifyAll();
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `medium`: always.
    ///
    /// ## Limitations
    ///
    /// Any write, and any call that may write, counts as the change.
    static RULE = {
        name: "notify-without-change",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "threads are notified although nothing has changed",
        message: "`{blame}` notifies `{object}` without having changed anything",
        roles: &[
            ("notifies", "waiting threads are woken up here"),
        ],
        advice: "change what the waiting threads wait for while the lock is held, then notify",
    }
}
