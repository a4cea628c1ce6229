//! Rule `callback-under-lock`.

use crate::Severity;

super::rule! {
    /// # callback-under-lock
    ///
    /// A `Runnable`, a listener or another function that somebody else handed in is called while a lock is held.
    ///
    /// ## Why it matters
    ///
    /// Nobody knows what it does: it may take long, acquire other locks in another order, or call back into the object and find it
    /// half changed.
    ///
    /// ## Example
    ///
    /// ```java
    /// synchronized void finish(Result result) {
    ///     this.result = result;
    ///     for (Consumer<Result> listener : listeners) listener.accept(result);
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Call it without the lock:
    ///
    /// ```java
    /// List<Consumer<Result>> copy;
    /// synchronized (this) {
    ///     this.result = result;
    ///     copy = new ArrayList<>(listeners);
    /// }
    /// copy.forEach(listener -> listener.accept(result));
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `low`: always; it is a matter of design. Shown with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// Only interfaces of the library that are known as callbacks or tasks count, and only where the object comes from a
    /// field, a parameter or a collection.
    static RULE = {
        name: "callback-under-lock",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "code that was handed in is called while a lock is held",
        message: "`{blame}` calls `{callback}` while it holds `{lock}`",
        roles: &[
            ("called", "code from outside runs here, and `{lock}` stays held meanwhile"),
        ],
        advice: "copy what is needed under `{lock}`, and call `{callback}` after it is released",
    }
}
