//! Rule `indefinite-wait`.

use crate::Severity;

super::rule! {
    /// # indefinite-wait
    ///
    /// A thread waits on an object, without a timeout, and no other thread ever notifies that object.
    ///
    /// ## Why it matters
    ///
    /// The thread never continues, and keeps the locks it holds.
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
    ///         notifyAll();            // notifies `this`, on which no thread waits
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Notify the object that is waited on, whenever the condition may have become true:
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
    /// - `medium`: no thread notifies the object;
    /// - `low`: code outside the program can reach the object and may notify it. Shown with `--level low` only.
    ///
    /// Waits with a timeout are not reported, and neither are waits on threads, which notify when they end.
    ///
    /// ## Limitations
    ///
    /// A notification that exists but is not sent, or is sent too early, is not detected. A thread that is only meant to be
    /// interrupted is reported.
    static RULE = {
        name: "indefinite-wait",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a thread waits for a notification that no thread sends",
        message: "`{blame}` waits on `{object}`, and no thread notifies it",
        roles: &[("waits", "the thread waits here, without a timeout")],
        advice: "notify `{object}` where the condition becomes true, or wait with a timeout",
    }
}
