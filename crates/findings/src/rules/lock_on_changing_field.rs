//! Rule `lock-on-changing-field`.

use crate::Severity;

super::rule! {
    /// # lock-on-changing-field
    ///
    /// A block synchronizes on the object in a field, and the field is assigned after construction.
    ///
    /// ## Why it matters
    ///
    /// Once the field has changed, other threads lock the new object, and the block no longer excludes them.
    ///
    /// ## Example
    ///
    /// ```java
    /// void add(Item item) {
    ///     synchronized (items) {
    ///         items = new ArrayList<>(items);   // the next thread locks another list
    ///         items.add(item);
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Lock something that does not change:
    ///
    /// ```java
    /// private final Object lock = new Object();
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the block itself assigns the field;
    /// - `medium`: the field is assigned elsewhere;
    /// - `low`: it only ever becomes one constant, such as `null`. Shown with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// Blocks inside another lock are not reported: the field may change under that lock only.
    static RULE = {
        name: "lock-on-changing-field",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "the object in a field is used as a lock, and the field changes",
        message: "`{blame}` locks `{lock}`, a field that is assigned again",
        roles: &[
            ("acquired", "the object that is in `{lock}` now is locked here"),
            ("assigned", "another object is assigned here while the lock is held"),
        ],
        advice: "lock a final field that is there for that purpose",
    }
}
