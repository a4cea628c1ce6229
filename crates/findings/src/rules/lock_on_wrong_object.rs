//! Rule `lock-on-wrong-object`.

use crate::Severity;

super::rule! {
    /// # lock-on-wrong-object
    ///
    /// A static field is written under the lock of one object; or a task writes a field of the object around it under the lock of
    /// the task itself, because `this` means the task.
    ///
    /// ## Why it matters
    ///
    /// Two objects have two locks: both threads are in the block at the same time.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Session {
    ///     private static int open;
    ///
    ///     synchronized void begin() {
    ///         open++;             // `open` belongs to all sessions
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Use a lock that is as common as the variable:
    ///
    /// ```java
    /// synchronized (Session.class) { open++; }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: a task writes a field of the object around it under its own lock;
    /// - `medium`: a static field is written under the lock of an object.
    ///
    /// ## Limitations
    ///
    /// Classes with one object (private constructors and a static field of their own type) are not reported.
    static RULE = {
        name: "lock-on-wrong-object",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a variable is written under the lock of another object than the one it belongs to",
        message: "`{blame}` writes `{variable}` under the lock of `{lock}` alone",
        roles: &[
            ("written", "other objects write `{variable}` under locks of their own"),
        ],
        advice: "hold a lock that all who write `{variable}` have in common",
    }
}
