//! Rule `double-checked-locking`.

use crate::Severity;

super::rule! {
    /// # double-checked-locking
    ///
    /// A field is tested without a lock and, if it is not set, assigned under a lock. Wrong are: a field that is not volatile; no
    /// second test under the lock; an object that is set up after it was assigned.
    ///
    /// ## Why it matters
    ///
    /// A thread that finds the field set without a lock may see an object whose fields are not written yet. Without the second
    /// test two threads assign it, one after the other.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Settings {
    ///     private static Settings instance;        // not volatile
    ///
    ///     static Settings get() {
    ///         if (instance == null) {
    ///             synchronized (Settings.class) {
    ///                 if (instance == null) instance = new Settings();
    ///             }
    ///         }
    ///         return instance;
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Make the field volatile:
    ///
    /// ```java
    /// private static volatile Settings instance;
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: it is not volatile;
    /// - `medium`: it is not tested again under the lock, or the object is changed after it was assigned;
    /// - `low`: the object has final fields only, or there are two objects of which either will do. Shown with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// Fields of 32 bits and objects that never change need no volatile. The test and the assignment must be in one
    /// method; the test may ask a getter.
    static RULE = {
        name: "double-checked-locking",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a field is tested without a lock and then assigned under one, in a way that does not work",
        message: "`{blame}` tests `{variable}` without a lock and assigns it under one",
        roles: &[
            ("tested", "`{variable}` is tested here without a lock"),
            ("again", "it is tested again here"),
            ("assigned", "it is assigned here"),
        ],
        advice: "make `{variable}` volatile, test it again under the lock, and assign it last; or use a holder class",
    }
}
