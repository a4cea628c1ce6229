//! Rule `unsafe-publication`.

use crate::Severity;

super::rule! {
    /// # unsafe-publication
    ///
    /// A new object becomes known to other threads through a variable that they read without any order: they may see
    /// the object before they see what was written into it.
    ///
    /// ## Why it matters
    ///
    /// Nothing makes the writes of a constructor visible together with the reference. A thread that finds the
    /// reference may read fields that are still zero or `null`; compilers and processors do reorder these writes.
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
    /// Make the variable volatile, which makes everything visible that was done before:
    ///
    /// ```java
    /// private static volatile Registry instance;
    /// ```
    ///
    /// Or let a class initialiser do it (a holder class), hold the lock at every read, or make all fields of the
    /// object `final`: these are visible with the reference, whatever the order.
    ///
    /// ## How findings are graded
    ///
    /// All are `medium`. One finding is made of each variable, with one read of what may not be there yet; the variable
    /// itself is a `data-race`. Where that race is harmless, as in a cache of immutable objects, nothing is said.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// Only the object that is published is looked at, not what it leads to, and only publication through fields. A
    /// reader that certainly came much later is reported all the same. It rests on what `data-race` finds, and is
    /// wrong where that is.
    static RULE = {
        name: "unsafe-publication",
        on_by_default: false,
        default_level: Severity::Medium,
        summary: "a new object becomes known to other threads before what was written into it",
        message: "`{blame}` makes an object known through `{variable}`, and nothing makes `{part}` visible with it",
        roles: &[
            ("first", "`{thread}` makes the new object known through `{variable}` here"),
            ("second", "`{thread}` reads `{part}` here, and may not see what `{written}` wrote"),
        ],
        advice: "make `{variable}` volatile, read it under the lock that its writes hold, or make `{part}` final",
    }
}
