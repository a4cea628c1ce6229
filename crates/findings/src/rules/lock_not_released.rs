//! Rule `lock-not-released`.

use crate::Severity;

super::rule! {
    /// # lock-not-released
    ///
    /// A method acquires a lock by a call and releases it on one path; on another path, a return or an exception, it is left with
    /// the lock held.
    ///
    /// ## Why it matters
    ///
    /// Nobody else can acquire the lock again: the next thread that tries is stuck, often long after the exception that
    /// caused it.
    ///
    /// ## Example
    ///
    /// ```java
    /// void transfer(Account to, int sum) {
    ///     lock.lock();
    ///     if (balance < sum) return;      // the lock stays held
    ///     balance -= sum;
    ///     to.deposit(sum);                // so it does if this throws
    ///     lock.unlock();
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Release it in a `finally` block:
    ///
    /// ```java
    /// lock.lock();
    /// try {
    ///     …
    /// } finally {
    ///     lock.unlock();
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: a `return` or `throw` of the method itself leaves with the lock;
    /// - `medium`: an exception of a called method does.
    ///
    /// ## Limitations
    ///
    /// A method that never releases the lock leaves that to another one on purpose, and is not reported. Locks without a name
    /// that stays the same, as in hand-over-hand locking, are not followed.
    static RULE = {
        name: "lock-not-released",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a lock can still be held when the method that acquired it is left",
        message: "`{blame}` can be left with `{lock}` still held",
        roles: &[
            ("acquired", "`{lock}` is acquired here"),
            ("left", "the method can be left here without releasing it"),
        ],
        advice: "release `{lock}` in a `finally` block that begins right after it is acquired",
    }
}
