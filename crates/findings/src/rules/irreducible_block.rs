//! Rule `irreducible-block`.

use crate::Severity;

super::rule! {
    /// # irreducible-block
    ///
    /// In an observed run, a block that is meant to be atomic did something after which other threads may
    /// come in, and then something that others can disturb.
    ///
    /// ## Why it matters
    ///
    /// A block is surely atomic if it first only takes locks, then does at most one thing that others can
    /// see, and then only gives locks back; what it does to data that is guarded by locks may stand anywhere.
    /// Whatever other threads do in the middle of such a block could as well have happened before or
    /// after it. A block that does not have this shape may be split, in another order of the same run.
    /// That need not have happened, and need not do harm: `not-serializable` says when it did.
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
    ///         int before = balance();        // first: gives the lock back
    ///         setBalance(before + amount);   // second: takes it again
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
    /// If the block is not meant to be atomic, say so: with `@NotAtomic`, or under `[atomic]` in
    /// `scission.toml`.
    ///
    /// ## When it looks
    ///
    /// The monitor is not on by default: `scission run --monitor atomizer` chooses it, also beside others.
    ///
    /// ## How findings are graded
    ///
    /// - `medium`: the innermost block that does not have the shape; the blocks around it are listed;
    /// - `low`: the block gives its lock back to wait, and so is split on purpose.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// It takes data for guarded if a lock was held at every access so far. Data that is handed over by a
    /// volatile flag, by starting a thread or by a queue seems unguarded, and blocks that use it are
    /// reported although nothing can split them. A block that ran before its data met a second thread
    /// is judged by what was known then.
    static RULE = {
        name: "irreducible-block",
        on_by_default: true,
        default_level: Severity::Low,
        summary: "a block that is meant to be atomic could have been split in another order of an observed run",
        message: "`{blame}` may not be atomic: other threads can come in between its use of `{first}` and its use of `{second}`",
        roles: &[
            ("block", "this block is meant to be atomic"),
            ("first", "`{thread}` {verb} `{subject}` here; from here on, what other threads do can come in between"),
            ("second", "`{thread}` {verb} `{subject}` here, which other threads can have changed"),
            ("outer", "this block around it has the same problem"),
        ],
        advice: "hold one lock from the first use to the second, or mark the block as not atomic if it need not be",
    }
}
