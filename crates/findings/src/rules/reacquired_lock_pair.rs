//! Rule `reacquired-lock-pair`.

use crate::Severity;

super::rule! {
    /// # reacquired-lock-pair
    ///
    /// While one lock (the *context*) is held, a second lock is acquired and released, and after
    /// that a third, different one. This is the relaxed form of `reacquired-lock`; it is off unless
    /// enabled with `--rule reacquired-lock-pair`.
    ///
    /// ## Why it matters
    ///
    /// The block may rely on a snapshot of what both inner locks guard, but they are never held together:
    /// the first may change while the second is read.
    ///
    /// ## Example
    ///
    /// ```java
    /// synchronized long total() {
    ///     long sum = checking.balance();   // acquires the lock of checking, and releases it
    ///     sum += savings.balance();        // a transfer in between is counted twice, or not at all
    ///     return sum;
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Acquire both inner locks, in one fixed order, before reading either:
    ///
    /// ```java
    /// synchronized (checking) {
    ///     synchronized (savings) {
    ///         return checking.balance() + savings.balance();
    ///     }
    /// }
    /// ```
    ///
    /// ## Limitations
    ///
    /// The limitations of `reacquired-lock` apply. Much code that locks two unrelated objects one after the other is
    /// correct: read these findings as hints.
    static RULE = {
        name: "reacquired-lock-pair",
        on_by_default: false,
        default_level: Severity::Low,
        summary: "two locks are acquired one after the other inside a block that is meant to be atomic",
        message: "`{blame}` has no consistent view of `{first}` and `{second}`: they are acquired one after the other while `{context}` is held",
        roles: &[
            ("context", "`{context}` is held from here: the block is meant to be atomic"),
            ("first", "`{first}` is acquired and released here"),
            ("second", "`{second}` is acquired here, when `{first}` may already have changed"),
        ],
        advice: "acquire `{first}` and `{second}` together, in one fixed order, before reading what either guards",
    }
}
