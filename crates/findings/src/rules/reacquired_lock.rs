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
    /// Holding the context lock says that the whole block is meant to happen all at once. But
    /// whatever the witness lock guards may change between its two acquisitions: the second half of
    /// the block then works on a state that the first half never saw. No data race is needed for
    /// this, every single access is locked; tests pass, and it fails under load.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Line {
    ///     private final Location start, end;
    ///
    ///     synchronized boolean contains(Location point) {
    ///         double toStart = point.distanceTo(start);   // locks point, and gives it back
    ///         double toEnd = point.distanceTo(end);       // locks it again: it may have moved
    ///         return toStart + toEnd <= start.distanceTo(end) * 1.001;
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold the witness lock across both uses; locks of the JVM are re-entrant, so the inner
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
    /// ## What it misses, and where it is wrong
    ///
    /// Locks are compared by how they are written (`this.lock`, `point`), not by alias analysis.
    /// The analysis does not know which branches exclude each other. An object that only one
    /// thread can reach needs no lock: private `Vector` and `StringBuffer` objects and the like
    /// are left out unless `--include` names their class.
    static RULE = {
        name: "reacquired-lock",
        on_by_default: true,
        default_level: Severity::Low,
        summary: "a lock is released and taken again inside a block that is meant to be atomic",
        message: "`{blame}` gives `{witness}` back too early: it is locked twice while `{context}` is held",
        roles: &[
            ("context", "`{context}` is held from here: the block is meant to be atomic"),
            ("first", "`{witness}` is locked and released here"),
            ("second", "`{witness}` is locked again here: what it guards may have changed in between"),
        ],
        advice: "hold `{witness}` across both uses, or release `{context}` between them if the block need not be atomic",
    }
}
