//! Rule `inconsistent-method`.

use crate::Severity;

super::rule! {
    /// # inconsistent-method
    ///
    /// A method takes a lock twice, one time after the other, for data that others treat as one: between the two,
    /// another thread can change it, and the method sees or leaves behind a mixture.
    ///
    /// ## Why it matters
    ///
    /// Each access is locked, so there is no data race; and yet the method is not atomic. A decision is taken on what is
    /// no longer true, two halves of a pair belong to different moments, an entry is added to what was
    /// just closed.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Registry {
    ///     private boolean closed;
    ///     private final Map<String, Entry> entries = new HashMap<>();
    ///
    ///     synchronized void checkClosed() { if (closed) throw new IllegalStateException(); }
    ///     synchronized Entry lookup(String key) { return entries.computeIfAbsent(key, Entry::new); }
    ///     synchronized void close() { entries.clear(); closed = true; }
    ///
    ///     Entry load(String key) {
    ///         checkClosed();          // open so far
    ///         return lookup(key);     // closed by now: the entry is added after the end
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold the lock from the first access to the last:
    ///
    /// ```java
    /// synchronized Entry load(String key) {
    ///     checkClosed();
    ///     return lookup(key);
    /// }
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: a variable is read, and then written under the same lock taken again, depending on what was read (lost
    ///   update, check-then-act);
    /// - `medium`: different variables that another thread treats as one: a pair that is read or written in two
    ///   halves;
    /// - `low`: the same variables are only read, or written and then read, or written without a visible dependence
    ///   on what was read; the method waits for others by design; the accesses lie deep below it; or it is not clear
    ///   that it is one object both times. Not shown unless asked for with `--level low`.
    ///
    /// What is meant to be atomic is what the specification says: by default all methods but private ones, `main` and
    /// the bodies of threads and tasks. Of several methods that call each other the innermost is blamed.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// Two equal steps, each of which updates the same variables, count as independent: `stale-value` finds those where
    /// one depends on the other. Streams are silent: nobody expects several prints to be one. Data that is
    /// written once and only read afterwards, and methods that are never called at the same time, may be
    /// reported. `--strict` reports streams, too. In a large program, code that is reached in very many ways, with
    /// other locks each time, is left out.
    static RULE = {
        name: "inconsistent-method",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a method takes a lock twice for data that other threads treat as one",
        message: "`{blame}` is not atomic: it takes `{lock}` twice for {fields}, and another thread can come in between",
        roles: &[
            ("block", "the method is meant to be atomic"),
            ("first", "{fields} are touched under `{lock}` here, which is then given back"),
            ("second", "and again here, when `{lock}` is taken again"),
            ("interferes", "another thread changes or sees them in between, here"),
        ],
        advice: "hold `{lock}` in `{blame}` from the first access to the last",
    }
}
