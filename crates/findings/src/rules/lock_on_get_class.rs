//! Rule `lock-on-get-class`.

use crate::Severity;

super::rule! {
    /// # lock-on-get-class
    ///
    /// A block synchronizes on `getClass()` in a class that is not final.
    ///
    /// ## Why it matters
    ///
    /// For objects of a subclass this is the class object of the subclass. What all of them share, static fields above all, is not
    /// guarded.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Counter {
    ///     private static int count;
    ///
    ///     void add() {
    ///         synchronized (getClass()) { count++; }     // not one lock
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Name the class:
    ///
    /// ```java
    /// synchronized (Counter.class) { count++; }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the class has subclasses;
    /// - `medium`: it could have.
    ///
    /// ## Limitations
    ///
    /// Only `getClass()` of `this` is looked at.
    static RULE = {
        name: "lock-on-get-class",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "`getClass()` is used as a lock in a class that can be extended",
        message: "`{blame}` locks `getClass()`, which is another lock in subclasses of `{class}`",
        roles: &[
            ("acquired", "a subclass locks another object here"),
        ],
        advice: "lock `{class}.class`",
    }
}
