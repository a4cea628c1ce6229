//! Rule `thread-local-leak`.

use crate::Severity;

super::rule! {
    /// # thread-local-leak
    ///
    /// A task of a pool or a server stores something in a `ThreadLocal`, and the program never removes it.
    ///
    /// ## Why it matters
    ///
    /// The thread goes on to serve others: the next task finds the data of the last one, such as a user who has signed in. And what
    /// is stored stays in memory as long as the thread.
    ///
    /// ## Example
    ///
    /// ```java
    /// void handle(Request request) {
    ///     USER.set(request.user());
    ///     process(request);
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Remove it when the task ends:
    ///
    /// ```java
    /// USER.set(request.user());
    /// try {
    ///     process(request);
    /// } finally {
    ///     USER.remove();
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `medium`: always.
    ///
    /// ## Limitations
    ///
    /// A variable that another method removes counts as removed, always; so does one that is set to `null`, another constant
    /// or what was there before. What happens when something is thrown is not looked at. Values that an initialiser makes, or
    /// that are stored because there was none, are not reported.
    static RULE = {
        name: "thread-local-leak",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a pooled thread keeps what was stored in a `ThreadLocal`",
        message: "`{blame}` stores in `{variable}`, and does not always remove it",
        roles: &[
            ("stored", "the thread keeps this after the task has ended"),
        ],
        advice: "call `{variable}.remove()` in a `finally` block",
    }
}
