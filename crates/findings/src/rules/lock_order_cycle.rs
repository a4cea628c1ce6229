//! Rule `lock-order-cycle`.

use crate::Severity;

super::rule! {
    /// # lock-order-cycle
    ///
    /// Threads acquire the same locks in different orders: each can hold the lock that the next one needs, and then none of
    /// them ever continues.
    ///
    /// ## Why it matters
    ///
    /// A deadlock depends on timing: tests pass, and it happens under load. Nothing fails when it happens: the threads
    /// stop, then every thread that needs their locks, and in the end the program has to be killed.
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
    ///         to.deposit(amount);     // needs the lock of `to` while it holds its own
    ///     }
    /// }
    /// ```
    ///
    /// One thread calls `a.transfer(b, 1)`, another `b.transfer(a, 1)`: each holds one account and waits
    /// for the other.
    ///
    /// ## Fix
    ///
    /// Acquire the locks in one order everywhere, for instance by a number that each object has; or do not
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
    /// - `high`: two locks that are known exactly: there is one instance of each, or each is the object whose
    ///   method is running;
    /// - `medium`: the locks are some of many instances, or more than two take part;
    /// - `low`: two instances of one class, and the code does not show how they relate. Shown with `--level low`
    ///   only.
    ///
    /// Cycles that cannot deadlock are not reported: all in one thread; under another lock that both sides hold; between
    /// threads that never run at the same time; between readers of a read-write lock; and through `tryLock`,
    /// which does not block. Neither are two instances of one class when a comparison of the two decides which is
    /// locked first, or when one is reached through the other in one direction only.
    ///
    /// ## Limitations
    ///
    /// Cycles of more than twelve locks are not listed; the report says so where there are some. Those through joins,
    /// latches, queues and class initialisers are not found. Paths are not compared: a cycle whose parts never happen in one execution is reported, and so are objects that
    /// the analysis cannot distinguish although no two threads share them.
    static RULE = {
        name: "lock-order-cycle",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "threads acquire the same locks in different orders and can deadlock",
        message: "`{blame}` can deadlock: {locks} are acquired in different orders",
        roles: &[
            ("holds.1", "one thread acquires `{held1}` here"),
            ("wants.1", "and needs `{wanted1}` here, while it holds `{held1}`"),
            ("holds.2", "another thread acquires `{held2}` here"),
            ("wants.2", "and needs `{wanted2}` here, while it holds `{held2}`"),
            ("holds.3", "a third thread acquires `{held3}` here"),
            ("wants.3", "and needs `{wanted3}` here, while it holds `{held3}`"),
            ("holds.4", "a fourth thread acquires `{held4}` here"),
            ("wants.4", "and needs `{wanted4}` here, while it holds `{held4}`"),
            ("holds.5", "a fifth thread acquires `{held5}` here"),
            ("wants.5", "and needs `{wanted5}` here, while it holds `{held5}`"),
            ("holds.6", "a sixth thread acquires `{held6}` here"),
            ("wants.6", "and needs `{wanted6}` here, while it holds `{held6}`"),
            ("holds.7", "a seventh thread acquires `{held7}` here"),
            ("wants.7", "and needs `{wanted7}` here, while it holds `{held7}`"),
            ("holds.8", "an eighth thread acquires `{held8}` here"),
            ("wants.8", "and needs `{wanted8}` here, while it holds `{held8}`"),
            ("holds.9", "a ninth thread acquires `{held9}` here"),
            ("wants.9", "and needs `{wanted9}` here, while it holds `{held9}`"),
            ("holds.10", "a tenth thread acquires `{held10}` here"),
            ("wants.10", "and needs `{wanted10}` here, while it holds `{held10}`"),
            ("holds.11", "an eleventh thread acquires `{held11}` here"),
            ("wants.11", "and needs `{wanted11}` here, while it holds `{held11}`"),
            ("holds.12", "a twelfth thread acquires `{held12}` here"),
            ("wants.12", "and needs `{wanted12}` here, while it holds `{held12}`"),
        ],
        advice: "acquire {locks} in one order everywhere, or release the first before acquiring the second",
    }
}
