//! Rule `stale-value`.

use crate::Severity;

super::rule! {
    /// # stale-value
    ///
    /// A value is read while a lock is held, the lock is given back, and the copy is used
    /// afterwards: by then the original may have changed.
    ///
    /// ## Why it matters
    ///
    /// Every single access is locked, so there is no data race; and yet an update can be lost, or a
    /// decision be taken on a state that no longer exists. Both halves look right on their own,
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
    ///         int before = balance();        // read under the lock, which is given back
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
    /// the lock that the original is still the same before writing.
    ///
    /// ## How findings are graded
    ///
    /// - `high`: under the same lock, taken again, the stale value is written to what the lock guards,
    ///   or it has decided that the very variable it was read from is written (lost update,
    ///   check-then-act);
    /// - `medium`: it decides what is done to other shared state, is stored elsewhere, or is passed on; or
    ///   the write is of a kind that rarely does harm: a cache that is filled twice, a thing that is
    ///   removed if it is still there, a flag that only ever goes one way, an object that only its owner
    ///   knows, another lock that is held all the way;
    /// - `low`: it is only returned, printed, or used to reach another object. Not shown unless asked
    ///   for with `--level low`.
    ///
    /// ## What it misses, and where it is wrong
    ///
    /// Values that are handed over are silent: taken out of a buffer, a queue or a pool, or marked as
    /// taken before the lock is given back. So are values that are compared with the current one
    /// under the lock before the write. `--strict` reports both, and fields that no one is seen to
    /// write under the lock. Locks are compared by how they are written, and calls are
    /// followed three deep. A snapshot that is meant to be one (a statistic, a hint) is reported all
    /// the same when something is decided by it: suppress it, with the reason.
    static RULE = {
        name: "stale-value",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a value read under a lock is used after the lock was given back",
        message: "`{blame}` relies on a stale value: `{value}` is read under `{lock}` and used after `{lock}` was given back",
        roles: &[
            ("read", "`{value}` is read here while `{lock}` is held"),
            ("released", "`{lock}` is given back here: others may change `{value}` from now on"),
            ("used", "the copy is used here"),
            ("written", "shared state is written here, on the strength of the stale copy"),
        ],
        advice: "hold `{lock}` from the read to the last use, or check under `{lock}` that `{value}` is unchanged before relying on the copy",
    }
}
