//! Rule `volatile-increment`.

use crate::Severity;

super::rule! {
    /// # volatile-increment
    ///
    /// A volatile field is read, something is computed from it, and the result is written back: `n++`, `n += 2`,
    /// `setN(getN() + 1)`, `flag = !flag`.
    ///
    /// ## Why it matters
    ///
    /// Volatile makes every single read and write visible; it does not make the two one step. Two threads that increment at
    /// the same time read the same number, and one of the increments is lost.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Hits {
    ///     private volatile int count;
    ///
    ///     void add() {
    ///         count++;            // reads, adds, writes: three steps
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Use an atomic number:
    ///
    /// ```java
    /// private final AtomicInteger count = new AtomicInteger();
    ///
    /// void add() {
    ///     count.incrementAndGet();
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `medium`: callers outside the class can call the method at any time;
    /// - `low`: the method is private or the body of a thread, which may be the only one that writes; or a maximum or a set
    ///   of bits is kept, not a count. Shown with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// Fields that one thread alone writes are not reported where the call graph shows it.
    static RULE = {
        name: "volatile-increment",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a volatile number is incremented without a lock",
        message: "`{blame}` changes the volatile `{variable}` in two steps",
        roles: &[
            ("read", "`{variable}` is read here"),
            ("written", "what was computed from it is written here: another thread may have written in between"),
        ],
        advice: "make `{variable}` an atomic number, or hold one lock around the read and the write",
    }
}
