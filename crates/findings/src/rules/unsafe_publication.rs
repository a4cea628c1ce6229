//! Rule `unsafe-publication`.

use crate::Severity;

super::rule! {
    /// # unsafe-publication
    ///
    /// A new object is published to other threads through a variable that they read without synchronisation: they may see
    /// the reference before they see what was written into the object.
    ///
    /// ## Why it matters
    ///
    /// Nothing makes the writes of a constructor visible together with the reference. A thread that reads the
    /// reference may find fields that are still zero or `null`; compilers and processors do reorder these writes.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Registry {
    ///     private static Registry instance;
    ///     private Map<String, Entry> entries = new HashMap<>();
    ///
    ///     static Registry get() {
    ///         if (instance == null) {                 // read without the lock
    ///             synchronized (Registry.class) {
    ///                 if (instance == null) {
    ///                     instance = new Registry();  // the reference may be visible first
    ///                 }
    ///             }
    ///         }
    ///         return instance;
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Make the variable volatile, which makes everything visible that was written before:
    ///
    /// ```java
    /// private static volatile Registry instance;
    /// ```
    ///
    /// Or let a class initialiser create the object (the holder idiom), hold the lock at every read, or make all fields of
    /// the object `final`: final fields are visible with the reference.
    ///
    /// ## How findings are graded
    ///
    /// All are `medium`. There is one finding per variable, with one read of a field that may not be visible yet; the
    /// variable itself is a `data-race`. Where that race is harmless, as in a cache of immutable objects, nothing is
    /// reported.
    ///
    /// ## Limitations
    ///
    /// Only the published object itself is checked, not the objects it refers to, and only publication through fields. A
    /// reader that certainly runs much later is reported too. The rule builds on `data-race` and shares its limitations.
    static RULE = {
        name: "unsafe-publication",
        on_by_default: false,
        default_level: Severity::Medium,
        summary: "a new object is published to other threads before what was written into it is visible",
        message: "`{blame}` publishes an object through `{variable}`, and nothing makes `{part}` visible with it",
        roles: &[
            ("first", "`{thread}` publishes the new object through `{variable}` here"),
            ("second", "`{thread}` reads `{part}` here, and may not see what `{written}` wrote"),
        ],
        advice: "make `{variable}` volatile, read it under the lock that its writes hold, or make `{part}` final",
    }
}
