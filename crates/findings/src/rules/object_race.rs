//! Rule `object-race`.

use crate::Severity;

super::rule! {
    /// # object-race
    ///
    /// In an observed run, several threads used an object, one of them wrote it, no lock was held at every access, and
    /// nothing else orders two of the accesses.
    ///
    /// ## Why it matters
    ///
    /// The fields of an object belong together, and one lock is expected to guard them all. If no lock does, a
    /// thread can see half of a change, or a change can be lost.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Range {
    ///     private int low, high;
    ///
    ///     synchronized void move(int by) { low += by; high += by; }
    ///
    ///     int length() { return high - low; }      // without the lock
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold one lock at every access to the object:
    ///
    /// ```java
    /// synchronized int length() { return high - low; }
    /// ```
    ///
    /// ## How to enable it
    ///
    /// The checker is off by default: `scission run --monitor object-race` enables it, alone or together with others.
    /// With `--object-race lockset` locks are all that counts, and objects are reported that are handed from thread to thread
    /// in order. The first thread may initialise an object without a lock, and hand it to a second one.
    ///
    /// ## How findings are graded
    ///
    /// - `medium`: the two accesses are to one field;
    /// - `low`: they are to different fields, each of which may have a lock of its own.
    ///
    /// ## Limitations
    ///
    /// What the first thread did before a second one used the object is not judged. The order of the run
    /// counts: threads that took a lock one after the other may hide what another run shows; `--monitor eraser` does not
    /// consider it. Volatile fields are not checked. With `--arrays` an array is one object.
    static RULE = {
        name: "object-race",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "several threads used an object in an observed run, without a lock that guards it",
        message: "no lock guards `{object}`, which several threads use: this access to `{variable}` in `{blame}` shares none with that of another thread",
        roles: &[
            ("first", "`{thread}` {verb} `{subject}` here"),
            ("second", "`{thread}` {verb} `{subject}` here, and no lock was held at every access to the object so far"),
        ],
        advice: "hold the same lock at every access to `{object}`",
    }
}
