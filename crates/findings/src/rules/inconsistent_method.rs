//! Rule `inconsistent-method`.

use crate::Severity;

super::rule! {
    /// # inconsistent-method
    ///
    /// A method acquires a lock twice, one time after the other, for data that other threads treat as a unit. Between the
    /// two, another thread can change the data, and the method sees or leaves an inconsistent state.
    ///
    /// ## Why it matters
    ///
    /// Each access holds the lock, so there is no data race; and yet the method is not atomic. It acts on a condition that is
    /// no longer true, reads two halves of a pair that belong to different states, or adds an entry to a container that was
    /// closed in between.
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
    ///         return lookup(key);     // closed by now: the entry is added to a closed registry
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
    /// - `high`: a variable is read, and then written under the same lock acquired again, depending on what was read (lost
    ///   update, check-then-act);
    /// - `medium`: different variables that another thread treats as a unit: a pair that is read or written in two
    ///   halves; what is `high` but for the callers of a library, who may be one thread;
    /// - `low`: the same variables are only read, or written and then read, or written without a visible dependence
    ///   on what was read; the method waits for other threads by design; the accesses are many calls below it; or it is not
    ///   certain that it is the same object both times. Shown with `--level low` only.
    ///
    /// The specification says which methods are meant to be atomic: by default all but private methods, `main` and the bodies
    /// of threads and tasks. Of several methods that call each other, the innermost is blamed.
    ///
    /// ## Limitations
    ///
    /// Two equal operations, each of which updates the same variables, count as independent: `stale-value` finds those where
    /// one depends on the other. Output streams are not reported, since several prints are rarely meant to be one; `--strict`
    /// reports them too. Data that is written once and only read afterwards, and methods that are never called at the same
    /// time, may be reported. In a large program, code that is reached in very many ways, each with other locks, is left out.
    static RULE = {
        name: "inconsistent-method",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a method acquires a lock twice for data that other threads treat as a unit",
        message: "`{blame}` is not atomic: it acquires `{lock}` twice for {fields}, and another thread can run in between",
        roles: &[
            ("block", "the method is meant to be atomic"),
            ("first", "first access to {fields} under `{lock}`, which is then released"),
            ("second", "second access, after `{lock}` is acquired again"),
            ("interferes", "another thread can access {fields} here in between"),
        ],
        advice: "hold `{lock}` in `{blame}` from the first access to the last",
    }
}
