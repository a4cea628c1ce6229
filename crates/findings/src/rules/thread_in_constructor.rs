//! Rule `thread-in-constructor`.

use crate::Severity;

super::rule! {
    /// # thread-in-constructor
    ///
    /// A constructor starts a thread that knows the new object, and the class has subclasses or can have them.
    ///
    /// ## Why it matters
    ///
    /// The thread may run before the constructor of a subclass has: it sees fields that are not set yet, final ones too.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Poller implements Runnable {
    ///     Poller() {
    ///         new Thread(this).start();
    ///     }
    /// }
    ///
    /// class NamedPoller extends Poller {
    ///     private final String name = "poller";       // the thread may see null
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Start it when the object is finished:
    ///
    /// ```java
    /// static Poller started() {
    ///     Poller poller = new Poller();
    ///     new Thread(poller).start();
    ///     return poller;
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the class has subclasses;
    /// - `low`: it could have. Shown with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// Tasks that a constructor hands to an executor are not looked at.
    static RULE = {
        name: "thread-in-constructor",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a constructor starts a thread that uses the object before it is finished",
        message: "the constructor of `{class}` starts a thread that uses the new object",
        roles: &[
            ("started", "the thread may run before the constructor of a subclass"),
        ],
        advice: "start the thread in a method of its own, or make `{class}` final and start it last",
    }
}
