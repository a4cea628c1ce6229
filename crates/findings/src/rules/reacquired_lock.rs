//! Rule `reacquired-lock`.

use crate::Severity;

super::rule! {
    /// # reacquired-lock
    ///
    /// While one lock (the *context*) is held, another lock (the *witness*) is acquired and
    /// released, and then acquired and released again.
    ///
    /// ## Why it matters
    ///
    /// Holding the context lock says that the whole block is meant to be atomic. But the data that the witness lock
    /// guards may change between its two acquisitions: the second half of the block then works on a state that the
    /// first half never saw. No data race is needed for this, since every single access holds a lock; tests pass, and it
    /// fails under load.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Line {
    ///     private final Location start, end;
    ///
    ///     synchronized boolean contains(Location point) {
    ///         double toStart = point.distanceTo(start);   // acquires the lock of point, and releases it
    ///         double toEnd = point.distanceTo(end);       // acquires it again: point may have moved
    ///         return toStart + toEnd <= start.distanceTo(end) * 1.001;
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold the witness lock across both uses; Java's locks are re-entrant, so the inner
    /// acquisitions become harmless:
    ///
    /// ```java
    /// synchronized (point) {
    ///     toStart = point.distanceTo(start);
    ///     toEnd = point.distanceTo(end);
    /// }
    /// ```
    ///
    /// If the block is not meant to be atomic, do not hold the context lock for all of it.
    ///
    /// ## Limitations
    ///
    /// Locks are compared by the expressions that name them (`this.lock`, `point`), not by alias analysis.
    /// The analysis does not know which branches exclude each other. An object that only one
    /// thread can reach needs no lock: private `Vector` and `StringBuffer` objects and the like
    /// are left out unless `--include` names their class.
    static RULE = {
        name: "reacquired-lock",
        on_by_default: true,
        default_level: Severity::Low,
        summary: "a lock is released and acquired again inside a block that is meant to be atomic",
        message: "`{blame}` releases `{witness}` too early: it is acquired twice while `{context}` is held",
        roles: &[
            ("context", "`{context}` is held from here: the block is meant to be atomic"),
            ("first", "`{witness}` is acquired and released here"),
            ("second", "`{witness}` is acquired again here: what it guards may have changed in between"),
        ],
        advice: "hold `{witness}` across both uses, or release `{context}` between them if the block need not be atomic",
    }
}
