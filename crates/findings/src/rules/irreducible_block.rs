//! Rule `irreducible-block`.

use crate::Severity;

super::rule! {
    /// # irreducible-block
    ///
    /// In an observed run, a block that is meant to be atomic performed an operation after which other threads can
    /// interfere, and then one that such an interference can affect.
    ///
    /// ## Why it matters
    ///
    /// A block is certainly atomic if it first only acquires locks, then performs at most one operation that other
    /// threads can observe, and then only releases locks; accesses to data that is guarded by locks may occur anywhere.
    /// Whatever other threads do during such a block could as well have happened before or after it (Lipton's
    /// reduction). A block without this shape may be split in another order of the same run. That need not have happened
    /// and need not do harm: `not-serializable` reports when it did.
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
    ///         int before = balance();        // first: releases the lock
    ///         setBalance(before + amount);   // second: acquires it again
    ///     }
    /// }
    /// ```
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
    /// If the block is not meant to be atomic, say so with `@NotAtomic`, with `--not-atomic`, or under `[atomic]` in
    /// `scission.toml`. [`not-serializable`](not-serializable.md) says what is meant to be atomic by default, and where
    /// blocks are cut.
    ///
    /// ## How to enable it
    ///
    /// The checker is off by default: `scission run --monitor atomizer` enables it, alone or together with others.
    ///
    /// ## How findings are graded
    ///
    /// All are `medium`: the innermost block that does not have the shape; the enclosing blocks are listed.
    ///
    /// ## Limitations
    ///
    /// Data counts as guarded if a lock was held at every access so far. Data that is transferred through a volatile
    /// flag, a thread start or a queue looks unguarded, and blocks that use it are reported although nothing can split
    /// them. A block that ran before a second thread accessed its data is judged by what was known then.
    static RULE = {
        name: "irreducible-block",
        on_by_default: true,
        default_level: Severity::Low,
        summary: "a block that is meant to be atomic could have been split in another order of an observed run",
        message: "`{blame}` may not be atomic: other threads can run between its use of `{first}` and its use of `{second}`",
        roles: &[
            ("block", "this block is meant to be atomic"),
            ("first", "`{thread}` {verb} `{subject}` here; other threads can interfere from here on"),
            ("second", "`{thread}` {verb} `{subject}` here, which other threads may have changed"),
            ("outer", "this enclosing block has the same problem"),
        ],
        advice: "hold one lock from the first use to the second, or mark the block as not atomic if it need not be",
    }
}
