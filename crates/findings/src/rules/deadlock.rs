//! Rule `deadlock`.

use crate::Severity;

super::rule! {
    /// # deadlock
    ///
    /// Threads wait for each other, and none of them ever continues: it happened in a run, or it can happen in another
    /// order of a run that went well.
    ///
    /// ## Why it matters
    ///
    /// Nothing fails: the threads stop, then every thread that needs their locks, and in the end the program has to be
    /// killed. It depends on timing, so that tests pass and production hangs.
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
    ///         to.deposit(amount);     // waits for the lock of `to` while it holds its own
    ///     }
    /// }
    /// ```
    ///
    /// One thread calls `a.transfer(b, 1)`, another `b.transfer(a, 1)`: each holds one account and waits for the other.
    ///
    /// ## Fix
    ///
    /// Acquire the locks in one order everywhere, for instance by a number that each object has; or do not call into
    /// other objects, and do not wait for other threads, while holding a lock.
    ///
    /// ## Evidence
    ///
    /// - `observed`: the agent found the threads waiting for each other, looked again some time later, and nothing had
    ///   moved. Monitors, locks of `java.util.concurrent` with an owner, locks that are held shared, `StampedLock`,
    ///   `Thread.join`, `FutureTask.get` and the initialisation of classes are known, for threads of the platform and
    ///   virtual ones. So are pools (`ThreadPoolExecutor`) all of whose threads wait for tasks that are queued in the
    ///   pool, or in another such pool, or for what a thread holds that waits for such a task; the finding says how many threads
    ///   that are. The finding is on disk
    ///   when it is made, within two seconds: killing the program loses nothing. With `--on-deadlock exit` the JVM
    ///   ends then.
    /// - `predicted`: the run went well, and another order of it does not: every thread does what it did, every read sees
    ///   what it saw, and the critical sections of each lock come in the same order, up to the point where each thread
    ///   waits for a lock that the next one holds. Acquisitions that were only tried (`tryLock`) do not count, nor do cycles
    ///   under a common lock, in one thread, or between threads of which one has ended before the other began.
    /// - `predicted`, and called not proven: the locks were acquired in a cycle (Goodlock, with gate locks and the order that
    ///   start, join and other synchronisation make), but no such order of the run leads to the deadlock. It can still
    ///   happen if critical sections of other locks come in another order. Severity `medium`; `low`, shown with `--level low`
    ///   only, if a thread has read what another one wrote after it had acquired the locks.
    ///
    /// ## Limitations
    ///
    /// Observed are only cycles of which every thread has run code that is watched. A thread that waits for a
    /// notification, a permit, a latch or an element of a queue is not known to wait for any thread in particular: that is a
    /// [`hang`](hang.md), if nobody is left. So are stages (`CompletableFuture`) that are executed and wait for each other: which thread
    /// executes a stage is not known. A pool whose factory wraps what its threads execute is not known.
    /// Predicted are only deadlocks for which no critical section has to change places with another of the same lock. What
    /// threads depend on in code that is not watched is not seen.
    static RULE = {
        name: "deadlock",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "threads wait for each other, in an observed run or in another order of it",
        message: "deadlock in `{blame}`: {cause}",
        roles: &[
            ("holds", "`{thread}` acquired `{subject}` here and holds it"),
            ("wants", "`{thread}` {verb} `{subject}` here"),
        ],
        advice: "{remedy}",
    }
}
