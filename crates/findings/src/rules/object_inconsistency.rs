//! Rule `object-inconsistency`.

use crate::Severity;

super::rule! {
    /// # object-inconsistency
    ///
    /// In an observed run, a method was at work on an object, between two of its accesses to it, when another thread
    /// used the object.
    ///
    /// ## Why it matters
    ///
    /// Between its first and its last access a method may leave an object half changed, or rely on what it has read.
    /// Whoever comes in between sees the one, or makes the other stale.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Account {
    ///     private int balance;
    ///
    ///     void deposit(int amount) {
    ///         int before = balance;
    ///         balance = before + amount;       // another thread deposited in between
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Make the methods that use the object exclude each other:
    ///
    /// ```java
    /// synchronized void deposit(int amount) {
    ///     int before = balance;
    ///     balance = before + amount;
    /// }
    /// ```
    ///
    /// ## How to enable it
    ///
    /// The checker is off by default: `scission run --monitor object-consistency` enables it, alone or together with others.
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the three accesses are to one field, they did what no order of the two threads would have done, and
    ///   nothing orders two of them;
    /// - `medium`: only one of that: a race in the middle of the method, or a value that was split in order;
    /// - `low`: the threads used different fields, or nothing came of it.
    ///
    /// ## Limitations
    ///
    /// It judges one run, and methods of the class that declares the fields, or that names them as its own. What is done
    /// under a lock is judged by itself, so that a method that takes a lock twice is not at work in between:
    /// `not-serializable` and `reacquired-lock` are about that. Reads alone never count, and volatile fields are not checked.
    static RULE = {
        name: "object-inconsistency",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "another thread used an object in an observed run while a method was at work on it",
        message: "`{blame}` was at work on `{object}` when another thread used it: between its accesses to `{fields}`",
        roles: &[
            ("block", "this method uses the object more than once"),
            ("first", "first, `{thread}` {verb} `{subject}` here"),
            ("interferes", "then `{thread}` {verb} `{subject}` here"),
            ("second", "last, `{thread}` {verb} `{subject}` here"),
        ],
        advice: "hold one lock from the first access to the last, and wherever other threads use `{object}`",
    }
}
