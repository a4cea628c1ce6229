//! Rule `lock-on-shared-value`.

use crate::Severity;

super::rule! {
    /// # lock-on-shared-value
    ///
    /// A block synchronizes on a string, or on a box such as `Integer` or `Boolean`.
    ///
    /// ## Why it matters
    ///
    /// Equal strings and boxes are often one object: literals are interned, small numbers cached. Code that has nothing to do with
    /// this one may lock it too, and block it or even deadlock with it. A box in a field is also replaced by every assignment.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Cache {
    ///     private final String lock = "LOCK";      // one object in the whole JVM
    ///
    ///     void clear() {
    ///         synchronized (lock) { … }
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Make an object for the lock:
    ///
    /// ```java
    /// private final Object lock = new Object();
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: a box, a literal, or a string in a field;
    /// - `medium`: another string, which may be a key that callers agree about.
    ///
    /// ## Limitations
    ///
    /// Objects that are made by `new` are not reported.
    static RULE = {
        name: "lock-on-shared-value",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a string or a box is used as a lock",
        message: "`{blame}` locks {lock}, of class `{class}`",
        roles: &[
            ("acquired", "unrelated code may lock the same object"),
        ],
        advice: "lock an object that was made for that purpose: `private final Object lock = new Object();`",
    }
}
