//! Rule `inconsistent-synchronization`.

use crate::Severity;

super::rule! {
    /// # inconsistent-synchronization
    ///
    /// Most accesses to a field hold a lock of its object, or one lock for all objects; some hold none.
    ///
    /// ## Why it matters
    ///
    /// The lock protects nothing if others do not hold it: a read may see an old or half-changed state, a write may destroy what
    /// another thread is about to do.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Stock {
    ///     private int items;
    ///
    ///     synchronized void put() { items++; }
    ///     synchronized void take() { items--; }
    ///     synchronized boolean isEmpty() { return items == 0; }
    ///     void reset() { items = 0; }          // without the lock
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold the lock everywhere:
    ///
    /// ```java
    /// synchronized void reset() { items = 0; }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the field is written without the lock, and there are at least five accesses with it for each other one;
    /// - `medium`: it is written more often without the lock, or read;
    /// - `low`: the access is in `toString`, `equals` or `hashCode`, or the field only ever becomes one constant. Shown with
    ///   `--level low` only.
    ///
    /// ## Limitations
    ///
    /// At least three accesses in two methods must hold the lock, one of them a write, and two for each that does not. Accesses
    /// under another lock are not reported.
    static RULE = {
        name: "inconsistent-synchronization",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "most accesses to a field hold a lock, and some do not",
        message: "`{blame}` accesses `{variable}` without the lock that {share} accesses hold",
        roles: &[
            ("locked", "`{variable}` is written under the lock here"),
            ("unlocked", "it is accessed without any lock here"),
        ],
        advice: "hold the same lock at every access to `{variable}`",
    }
}
