//! Rule `shared-formatter`.

use crate::Severity;

super::rule! {
    /// # shared-formatter
    ///
    /// A static field holds a `SimpleDateFormat` or another object that keeps the state of its work in fields (number formats,
    /// digests, ciphers, matchers, parsers), or an array of them, and it is used without a lock.
    ///
    /// ## Why it matters
    ///
    /// Two threads that use it at the same time mix up their work: wrong dates, wrong digests, strange exceptions.
    ///
    /// ## Example
    ///
    /// ```java
    /// private static final DateFormat FORMAT = new SimpleDateFormat("yyyy-MM-dd");
    ///
    /// static String print(Date date) {
    ///     return FORMAT.format(date);
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Use what never changes:
    ///
    /// ```java
    /// private static final DateTimeFormatter FORMAT = DateTimeFormatter.ISO_LOCAL_DATE;
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: always.
    ///
    /// ## Limitations
    ///
    /// Instance fields are left to `data-race`. Which classes these are is said in the models (`changing-when-used`).
    static RULE = {
        name: "shared-formatter",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "an object that changes while it works is shared in a static field",
        message: "`{blame}` uses the static `{variable}` without a lock; a `{class}` changes while it works",
        roles: &[
            ("used", "two threads may be in this call with the same object"),
        ],
        advice: "make one for each use or each thread, or use a class that never changes, such as `DateTimeFormatter`",
    }
}
