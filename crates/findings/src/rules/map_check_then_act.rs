//! Rule `map-check-then-act`.

use crate::Severity;

super::rule! {
    /// # map-check-then-act
    ///
    /// A concurrent map is asked about a key with `get` or `containsKey`, and then `put` at the same key, because of the answer or
    /// computed from it. So is a map that is not made for threads, in a static field of a library: whoever calls it fills the same one.
    ///
    /// ## Why it matters
    ///
    /// Each of the two calls is atomic, but another thread can change the entry between them. What it has put is overwritten.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Words {
    ///     private final Map<String, Integer> counts = new ConcurrentHashMap<>();
    ///
    ///     void count(String word) {
    ///         Integer old = counts.get(word);
    ///         counts.put(word, old == null ? 1 : old + 1);   // loses counts
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Use the call that does both:
    ///
    /// ```java
    /// void count(String word) {
    ///     counts.merge(word, 1, Integer::sum);
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the new value is computed from the old one; or a new collection, counter or lock is put, which loses what others
    ///   have added to theirs;
    /// - `medium`: another new object is put, or the map is not made for threads;
    /// - `low`: a value is put that was computed or passed in: two threads may compute it twice, and nothing else happens. Shown
    ///   with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// Checks and changes in different methods are not found, and neither are keys that are equal but not the same value.
    static RULE = {
        name: "map-check-then-act",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a concurrent map is asked about a key and then changed at that key",
        message: "`{blame}` checks `{map}` and changes it in two calls",
        roles: &[
            ("checked", "`{map}` is asked here"),
            ("changed", "it is changed here, whatever other threads have put there in between"),
        ],
        advice: "use one call that does both: `putIfAbsent`, `computeIfAbsent` or `merge`",
    }
}
