//! Rule `not-serializable`.

use crate::Severity;

super::rule! {
    /// # not-serializable
    ///
    /// In an observed run, what other threads did came in between the operations of a block that is
    /// meant to be atomic, and no order of whole blocks explains the outcome.
    ///
    /// ## Why it matters
    ///
    /// The block did not happen all at once, and what it did depends on it: the operations of the other
    /// threads can be moved neither before the block nor after it. This was seen to happen; it is not a
    /// guess about another order. No data race is needed for it.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Account {
    ///     private int balance;
    ///
    ///     synchronized int balance() { return balance; }
    ///     synchronized void setBalance(int amount) { balance = amount; }
    ///
    ///     void deposit(int amount) {
    ///         int before = balance();        // first
    ///         setBalance(before + amount);   // second: a deposit made in between is lost
    ///     }
    /// }
    /// ```
    ///
    /// When two threads deposit at the same time, one of them reads the balance, the other reads and
    /// writes it, and the first writes it again. The write of the other thread interferes.
    ///
    /// ## Fix
    ///
    /// Hold one lock for the whole block:
    ///
    /// ```java
    /// synchronized void deposit(int amount) {
    ///     balance += amount;
    /// }
    /// ```
    ///
    /// If the block is not meant to be atomic, say so: with `@NotAtomic`, or under `[atomic]` in
    /// `scission.toml`.
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the blamed block is the innermost one that was split: no equivalent run executes it
    ///   without interruption;
    /// - `medium`: the blocks of the cycle exclude each other, but each of them alone could have happened
    ///   at once: no single block is to blame, and the one that completed the cycle is named;
    /// - `low`: the block gives its lock back to wait, and so is split on purpose.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// It sees one run. A block that can be split and was not is not reported. Accesses in code that is not
    /// watched (the platform's classes, native code, excluded classes) are known through models or not at
    /// all, which can hide findings and makes none. Two accesses that truly race may be seen in the
    /// other order than the one in which they happened.
    static RULE = {
        name: "not-serializable",
        on_by_default: true,
        default_level: Severity::Low,
        summary: "a block that is meant to be atomic was split by other threads in an observed run",
        message: "`{blame}` is not atomic: another thread came between its use of `{first}` and its use of `{second}`",
        roles: &[
            ("block", "this block is meant to be atomic"),
            ("first", "first, `{thread}` {verb} `{subject}` here"),
            ("interferes", "then `{thread}` {verb} `{subject}` here"),
            ("second", "last, `{thread}` {verb} `{subject}` here"),
        ],
        advice: "hold one lock from the first use to the second, or mark the block as not atomic if it need not be",
    }
}
