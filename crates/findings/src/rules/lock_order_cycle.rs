//! Rule `lock-order-cycle`.

use crate::Severity;

super::rule! {
    /// # lock-order-cycle
    ///
    /// Threads take the same locks in different orders: each can end up holding what the next one wants, and
    /// then none of them ever goes on.
    ///
    /// ## Why it matters
    ///
    /// A deadlock needs the right moment, so it passes tests and waits for load. When it happens, nothing fails: the
    /// threads just stop, then everybody who needs their locks, and in the end the program has to be
    /// killed.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Account {
    ///     private int balance;
    ///
    ///     synchronized void deposit(int amount) { balance += amount; }
    ///
    ///     synchronized void transfer(Account to, int amount) {
    ///         balance -= amount;
    ///         to.deposit(amount);     // wants the lock of `to` while it holds its own
    ///     }
    /// }
    /// ```
    ///
    /// One thread calls `a.transfer(b, 1)`, another `b.transfer(a, 1)`: each holds one account and waits
    /// for the other.
    ///
    /// ## Fix
    ///
    /// Take the locks in one order everywhere, for instance by a number that each object has; or do not
    /// call into other objects while holding a lock:
    ///
    /// ```java
    /// void transfer(Account to, int amount) {
    ///     withdraw(amount);           // one lock at a time
    ///     to.deposit(amount);
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: two locks, and no doubt which they are: there is one of each, or each is the object whose
    ///   method is running;
    /// - `medium`: the locks are some of many, or more than two take part;
    /// - `low`: two objects of one kind, and the code does not tell how they relate. Not shown unless asked
    ///   for with `--level low`.
    ///
    /// Silent are cycles that cannot close: all in one thread; under another lock that both sides hold; between
    /// threads that never run at the same time; between readers of a read-write lock; and through `tryLock`,
    /// which gives up. So are two objects of one kind when a comparison of the two decides which is
    /// locked first, or when one is reached through the other in one direction only.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// Cycles of more than four locks, and those through joins, latches, queues and class initialisers, are not
    /// found. Paths are not compared: a cycle whose parts never happen in one program is reported all the
    /// same, and so are objects that the analysis cannot tell apart although no two threads share them.
    static RULE = {
        name: "lock-order-cycle",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "threads take the same locks in different orders and can block each other for ever",
        message: "`{blame}` can deadlock: {locks} are taken in different orders",
        roles: &[
            ("holds.1", "one thread takes `{held1}` here"),
            ("wants.1", "and wants `{wanted1}` here, while it holds `{held1}`"),
            ("holds.2", "another thread takes `{held2}` here"),
            ("wants.2", "and wants `{wanted2}` here, while it holds `{held2}`"),
            ("holds.3", "a third thread takes `{held3}` here"),
            ("wants.3", "and wants `{wanted3}` here, while it holds `{held3}`"),
            ("holds.4", "a fourth thread takes `{held4}` here"),
            ("wants.4", "and wants `{wanted4}` here, while it holds `{held4}`"),
        ],
        advice: "take {locks} in one order everywhere, or give the first one back before the second is taken",
    }
}
