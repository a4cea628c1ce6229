//! Rule `stale-value`.

use crate::Severity;

super::rule! {
    /// # stale-value
    ///
    /// A value is read while a lock is held, the lock is released, and the copy is used
    /// afterwards: by then the original may have changed.
    ///
    /// ## Why it matters
    ///
    /// Every single access holds the lock, so there is no data race; and yet an update can be lost, or a
    /// decision can rest on a state that no longer exists. Both halves look correct on their own,
    /// tests pass, and it fails under load.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Account {
    ///     private int balance;
    ///
    ///     synchronized int balance() { return balance; }
    ///     synchronized void setBalance(int amount) { balance = amount; }
    ///
    ///     void deposit(int amount) {
    ///         int before = balance();        // read under the lock, which is then released
    ///         setBalance(before + amount);   // a deposit made in between is lost
    ///     }
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Hold the lock from the read to the last use of what was read:
    ///
    /// ```java
    /// synchronized void deposit(int amount) {
    ///     balance += amount;
    /// }
    /// ```
    ///
    /// If the work in between takes too long to hold the lock, compute on the copy and check under
    /// the lock that the original is unchanged before writing.
    ///
    /// ## How findings are graded
    ///
    /// - `high`: under the same lock, acquired again, the stale value is written to what the lock guards,
    ///   or it decides that the variable it was read from is written (lost update, check-then-act);
    /// - `medium`: it decides what is done to other shared state, is stored elsewhere, or is passed to other code; or
    ///   the write is of a kind that rarely does harm: a cache that is filled twice, an element that is
    ///   removed if it is still there, a flag that changes only once, an object that only its owner
    ///   can reach, another lock that is held throughout;
    /// - `low`: it is only returned, printed, or used to reach another object. Shown with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// Values whose ownership is transferred are not reported: removed from a buffer, a queue or a pool, or marked as
    /// taken before the lock is released. Neither are values that are compared with the current one
    /// under the lock before the write. `--strict` reports both, and fields that no code is seen to
    /// write under the lock. Locks are compared by the expressions that name them, and calls are
    /// followed three deep. A deliberate snapshot (a statistic, a hint) is reported when a decision depends on it:
    /// suppress the finding and state the reason.
    static RULE = {
        name: "stale-value",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a value read under a lock is used after the lock was released",
        message: "`{blame}` relies on a stale value: `{value}` is read under `{lock}` and used after `{lock}` was released",
        roles: &[
            ("read", "`{value}` is read here while `{lock}` is held"),
            ("released", "`{lock}` is released here: other threads may change `{value}` from now on"),
            ("used", "the copy is used here"),
            ("written", "shared state is written here, based on the stale copy"),
        ],
        advice: "hold `{lock}` from the read to the last use, or check under `{lock}` that `{value}` is unchanged before relying on the copy",
    }
}
