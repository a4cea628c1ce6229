//! Rule `reacquired-lock-pair`.

use crate::Severity;

super::rule! {
    /// # reacquired-lock-pair
    ///
    /// While one lock (the *context*) is held, a second lock is acquired and released, and after
    /// that a third, different one. This is the relaxed form of `reacquired-lock`; it is off unless
    /// asked for with `--rule reacquired-lock-pair`.
    ///
    /// ## Why it matters
    ///
    /// The block may rely on a snapshot of what both inner locks guard, but there is no moment at
    /// which both are held: the first may change while the second is read.
    ///
    /// ## Example
    ///
    /// ```java
    /// synchronized long total() {
    ///     long sum = checking.balance();   // locks checking, and gives it back
    ///     sum += savings.balance();        // a transfer in between is counted twice, or not at all
    ///     return sum;
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Take both inner locks, in one fixed order, before reading either:
    ///
    /// ```java
    /// synchronized (checking) {
    ///     synchronized (savings) {
    ///         return checking.balance() + savings.balance();
    ///     }
    /// }
    /// ```
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// Everything said of `reacquired-lock` holds here too, and much code that locks two unrelated
    /// objects one after the other is right: read these findings as hints where to look.
    static RULE = {
        name: "reacquired-lock-pair",
        on_by_default: false,
        default_level: Severity::Low,
        summary: "two locks are taken one after the other inside a block that is meant to be atomic",
        message: "`{blame}` has no consistent view of `{first}` and `{second}`: they are locked one after the other while `{context}` is held",
        roles: &[
            ("context", "`{context}` is held from here: the block is meant to be atomic"),
            ("first", "`{first}` is locked and released here"),
            ("second", "`{second}` is locked here, when `{first}` may already have changed"),
        ],
        advice: "take `{first}` and `{second}` together, in one fixed order, before reading what either guards",
    }
}
