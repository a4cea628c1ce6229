//! Rule `atomic-get-then-set`.

use crate::Severity;

super::rule! {
    /// # atomic-get-then-set
    ///
    /// An atomic variable is read with `get`, and then `set` to a value that was computed from what was read, or only if what was
    /// read allows it.
    ///
    /// ## Why it matters
    ///
    /// Each of the two calls is atomic, but another thread can set the variable between them. Its update is lost.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Quota {
    ///     private final AtomicInteger left = new AtomicInteger(100);
    ///
    ///     void take() {
    ///         left.set(left.get() - 1);      // two threads may take the same one
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Use the call that does both:
    ///
    /// ```java
    /// void take() {
    ///     left.decrementAndGet();
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: a number that is computed from the one that was read is set;
    /// - `medium`: a reference is replaced by one that was made from the other, or what was read only decides.
    ///
    /// ## Limitations
    ///
    /// Reads and sets in different methods are not found. Sets that say that there is one writer (`lazySet`, `setRelease`) are
    /// not reported.
    static RULE = {
        name: "atomic-get-then-set",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "an atomic variable is read and then set to what depends on it",
        message: "`{blame}` reads the atomic `{variable}` and sets it in two steps",
        roles: &[
            ("read", "`{variable}` is read here"),
            ("written", "it is set here, whatever other threads have set in between"),
        ],
        advice: "use one call that does both: `incrementAndGet`, `updateAndGet` or `compareAndSet`",
    }
}
