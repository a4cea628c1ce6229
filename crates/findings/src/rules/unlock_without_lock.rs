//! Rule `unlock-without-lock`.

use crate::Severity;

super::rule! {
    /// # unlock-without-lock
    ///
    /// A method releases a lock on a path on which it has not acquired it, has released it already, or has only tried to
    /// acquire it.
    ///
    /// ## Why it matters
    ///
    /// `unlock` throws an `IllegalMonitorStateException` then, in a `finally` block instead of the exception that led there.
    ///
    /// ## Example
    ///
    /// ```java
    /// void refresh() {
    ///     lock.tryLock();
    ///     try {
    ///         reload();
    ///     } finally {
    ///         lock.unlock();      // also if the attempt has failed
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Ask whether the attempt succeeded:
    ///
    /// ```java
    /// if (lock.tryLock()) {
    ///     try {
    ///         reload();
    ///     } finally {
    ///         lock.unlock();
    ///     }
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the lock is surely not held on some path, or the attempt to acquire it may have failed;
    /// - `medium`: a branch decides whether the lock is acquired, and none whether it is released.
    ///
    /// ## Limitations
    ///
    /// A method that never acquires the lock releases it for another one on purpose, and is not reported. A flag that remembers
    /// whether the attempt succeeded is trusted.
    static RULE = {
        name: "unlock-without-lock",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a lock is released that is not held",
        message: "`{blame}` releases `{lock}`, which it does not hold on every path",
        roles: &[
            ("tried", "whether `{lock}` is acquired is not certain here"),
            ("released", "it is released here all the same"),
        ],
        advice: "release `{lock}` only where it was acquired, and once",
    }
}
