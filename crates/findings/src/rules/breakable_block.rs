//! Rule `breakable-block`.

use crate::Severity;

super::rule! {
    /// # breakable-block
    ///
    /// Another order of an observed run, or a side of a branch that the run did not take, would split a block that is meant
    /// to be atomic.
    ///
    /// ## Why it matters
    ///
    /// A run shows one order of its threads and one way through each branch. The defect may lie in another. What each
    /// thread did, and would have done on the sides that it did not take, is put together in every way that the locks
    /// and the starting and joining of threads allow. If other threads then depend on something that the block has done,
    /// and the block goes on to do something that depends on them, it is not atomic: whatever they did can be
    /// moved neither before the block nor after it.
    ///
    /// ## Example
    ///
    /// ```java
    /// class Account {
    ///     private int checking, saving;
    ///
    ///     void withdraw(int amount) {
    ///         if (checkingBalance() >= amount) {        // first: reads checking
    ///             setChecking(checking - amount);       // second: writes it
    ///         } else if (savingBalance() >= amount) {   // not taken in this run
    ///             setSaving(saving - amount);
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// With every getter and setter synchronized there is no data race; and if each thread of the run withdraws from
    /// an account of its own kind, nothing is split in the run either. That one thread could have gone the
    /// way of the other is enough.
    ///
    /// ## Fix
    ///
    /// Hold one lock for the whole block:
    ///
    /// ```java
    /// synchronized void withdraw(int amount) {
    ///     if (checking >= amount) {
    ///         checking -= amount;
    ///     } else if (saving >= amount) {
    ///         saving -= amount;
    ///     }
    /// }
    /// ```
    ///
    /// If the block is not meant to be atomic, say so with `@NotAtomic`, with `--not-atomic`, or under `[atomic]` in
    /// `scission.toml`. [`not-serializable`](not-serializable.md) says what is meant to be atomic by default, and where
    /// blocks are cut.
    ///
    /// ## How to enable it
    ///
    /// The checker is off by default: `scission run --monitor hybrid` enables it, alone or together with others. With
    /// `--no-speculation`, sides of branches that were not taken are not considered. With `--all-branches`, those are
    /// considered, too, that cannot be taken: because constants, final fields, the type of an object or another branch
    /// on the same condition rule them out. Without it they are counted (`infeasible_sides` of a report in JSON, or with `-v`).
    ///
    /// ## From prediction to observation
    ///
    /// `scission run --adversarial --suspicions REPORT` takes the report of such a run in JSON, and delays threads between the
    /// first use and the second. If [`not-serializable`](not-serializable.md) then reports the same block and variables,
    /// because a checker observed it in that run or in the same one, the two are one finding: the observed one leads,
    /// and the prediction stands under it. In the same way `inconsistent-method` and `stale-value`, which
    /// `scission check` finds, stand under a prediction or an observation.
    ///
    /// ## How findings are graded
    ///
    /// - `high`: all of it happened, though not in this order: a method of the block read a variable under a lock, gave the
    ///   lock back, and wrote the variable under the same lock without reading it again, and another thread wrote it under
    ///   that lock: its update can be lost;
    /// - `medium`: any other order that splits the block, and all that needs a side of a branch that was not taken;
    /// - `low`: all of the variables are volatile or atomic, and so meant to be used without a lock, be it on a side that was not
    ///   taken; or two blocks can split each other, though no other order splits one of them alone.
    ///
    /// ## Limitations
    ///
    /// Branches are taken to be independent of one another, unless they decide by the same condition on variables of the
    /// method and final fields; other values are not considered: what is reported may be excluded by a condition. Order through a volatile flag or a queue is not order here, because another run may
    /// have another. Where the locks of the blocks can be acquired in a cycle, the finding says so: the blocks may then
    /// deadlock before they are split. Of very long blocks, very many different blocks and very large cycles not everything
    /// is considered; how much was left out is in the report.
    static RULE = {
        name: "breakable-block",
        on_by_default: true,
        default_level: Severity::Low,
        summary: "a block that is meant to be atomic would be split in another order or on another side of a branch of an observed run",
        message: "`{blame}` can be split: other threads can run between its use of `{first}` and its use of `{second}`",
        roles: &[
            ("block", "this block is meant to be atomic"),
            ("together", "so is this block; each of the two could be, but not both"),
            ("deadlock", "`{thread}` {verb} `{subject}` here, under a lock that others acquire after it: the threads may also deadlock"),
            ("branch", "not taken in this run: `{thread}` {verb} here, and so did not use `{subject}`"),
            ("first", "first, `{thread}` {verb} `{subject}` here"),
            ("interferes", "then `{thread}` {verb} `{subject}` here"),
            ("second", "last, `{thread}` {verb} `{subject}` here"),
        ],
        advice: "hold {guard} from the first use to the second, and wherever other threads use these variables, or mark the block as not atomic if it need not be",
    }
}
