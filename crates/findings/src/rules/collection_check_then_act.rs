//! Rule `collection-check-then-act`.

use crate::Severity;

super::rule! {
    /// # collection-check-then-act
    ///
    /// A collection that locks itself in each call (`Vector`, `Hashtable`, what `Collections.synchronizedList` and its kin return) is
    /// asked something and then changed because of the answer, or is gone through with an iterator, while no lock is held.
    ///
    /// ## Why it matters
    ///
    /// Each call is atomic, and other threads run in between. What was asked may no longer be true: the last element is removed
    /// twice, an entry is added twice, a count is lost. An iterator throws `ConcurrentModificationException`, or skips elements.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Jobs {
    ///     private static final Vector<Job> waiting = new Vector<>();
    ///
    ///     static Job next() {
    ///         if (waiting.isEmpty()) {
    ///             return null;
    ///         }
    ///         return waiting.remove(0);   // another thread may have taken the last one
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold the lock of the collection for all calls that belong together:
    ///
    /// ```java
    /// static Job next() {
    ///     synchronized (waiting) {
    ///         return waiting.isEmpty() ? null : waiting.remove(0);
    ///     }
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: something is removed or overwritten because of the answer, or a new value is computed from the old one;
    /// - `medium`: something is added because it was not there, or the collection is gone through while other methods change it.
    ///
    /// ## Limitations
    ///
    /// Only methods that several threads are seen to run are looked at: such collections are mostly used by one thread. Checks and
    /// changes in different methods are not found.
    static RULE = {
        name: "collection-check-then-act",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a collection that locks each call is used in several calls that belong together",
        message: "`{blame}` uses `{collection}` in several calls, and other threads can change it in between",
        roles: &[
            ("checked", "`{collection}` is asked here"),
            ("changed", "it is changed or gone through here, whatever other threads have done in between"),
        ],
        advice: "hold the lock of `{collection}` for all of these calls: `synchronized ({collection}) { … }`",
    }
}
