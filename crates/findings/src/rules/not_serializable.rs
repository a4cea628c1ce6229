//! Rule `not-serializable`.

use crate::Severity;

super::rule! {
    /// # not-serializable
    ///
    /// In an observed run, operations of other threads came between the operations of a block that is
    /// meant to be atomic, and no serial order of whole blocks explains the result.
    ///
    /// ## Why it matters
    ///
    /// The block did not execute atomically, and the result depends on that: the operations of the other
    /// threads can be moved neither before the block nor after it. This happened in the run; it is not a
    /// prediction about another order. No data race is needed for it.
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
    ///         int before = balance();        // first
    ///         setBalance(before + amount);   // second: a deposit made in between is lost
    ///     }
    /// }
    /// ```
    ///
    /// When two threads deposit at the same time, one of them reads the balance, the other reads and
    /// writes it, and the first writes it again. The write of the other thread interferes.
    ///
    /// ## Fix
    ///
    /// Hold one lock for the whole block:
    ///
    /// ```java
    /// synchronized void deposit(int amount) {
    ///     balance += amount;
    /// }
    /// ```
    ///
    /// If the block is not meant to be atomic, say so with `@NotAtomic`, with `--not-atomic`, or under `[atomic]` in
    /// `scission.toml`.
    ///
    /// ## What is meant to be atomic
    ///
    /// By default, methods that are not private, private methods that are synchronized, and everywhere else what is done
    /// between acquiring a lock and giving it back. Not `main`, constructors, class initialisers, tests and what runs
    /// them, nor the body of a thread or task: the method that a thread or an executor runs, and one that the lambda of a
    /// thread does nothing but call.
    ///
    /// Where a block starts a thread or waits for one, it is cut: what it does before and after are different
    /// units. `start`, `join`, `wait`, `await`, `park`, `Future.get`, barriers and latches, submitting a task and taking
    /// from a blocking queue cut a block; `sleep` does not, nor does acquiring a lock or a permit.
    /// A task that was submitted is no part of the block in which it happens to run, and neither is one that is called in a
    /// loop which holds no lock, as the workers of a pool call one task after the other.
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the blamed block is the innermost one that was split, no equivalent run executes it without interruption,
    ///   and it can be expected to rely on that: it uses one variable twice, or what one lock guards, or something that
    ///   nothing guards;
    /// - `medium`: the blocks of the cycle cannot all be serial, but each of them alone can: no single block is to blame,
    ///   and the one that completed the cycle is named; or the block uses two objects of one kind, each under its own lock, as a
    ///   transfer between two accounts does; or only a lock shows that another thread came in between, as below, but what was
    ///   done under it is not all seen, since methods that hold it write elements of arrays (`--arrays` watches them) or call
    ///   objects of libraries;
    /// - `low`, shown with `--level low`: the block was split and does not rely on what it had read before: it reads a
    ///   variable again and again at one place, until another thread changes it; or it read a variable and tried to
    ///   update it in one step (`compareAndSet`, `putIfAbsent`), which failed because another thread had changed it; or
    ///   it read a variable, acquired a lock and read it again, while another thread initialised it in the same method
    ///   (double-checked initialisation). Or it uses two things that have nothing to do with each other, as far as is
    ///   known: one after the other, under locks of different kinds (a cache, then the session of a user), or such as
    ///   guard themselves (it takes something out of a queue and puts it back). Or all that came in between is that another
    ///   thread tried to update the variable in one step and failed, as at a lock that a program makes of an
    ///   `AtomicBoolean`. Or only a lock shows that another thread came in between: the block acquires it again, and until
    ///   it ends comes upon nothing that the other thread has changed, nor changes what that has looked at; two threads may look
    ///   things up in one table, each under its lock. Or the block only updates again what it had updated before, by what it
    ///   finds there when it has the lock again: a counter that goes up and down, a connection that is taken out of a pool and
    ///   given back, an entry that is added after a second look. Or a thread initialised a class that another one used then. Blocks that write the variable after all are graded `high`: the change of the other thread may
    ///   be lost.
    ///
    /// ## Limitations
    ///
    /// It judges one run. A block that can be split and was not is not reported. Accesses in code that is not
    /// watched (classes of the platform, native code, excluded classes) are known through models or not at
    /// all, which can hide findings but causes no false ones. Operations on volatile fields, atomics and library objects of
    /// several threads may overlap: then their order is not known, and a violation that depends on it is
    /// counted (`uncertain_violations` of a report in JSON) and not reported. Accesses to one entry of a concurrent
    /// collection split those to the same entry only; keys that are equal but not the same object are known to be one
    /// key if they are strings or boxed values. Two ordinary accesses that race may be observed in the opposite of the
    /// order in which they happened.
    static RULE = {
        name: "not-serializable",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a block that is meant to be atomic was split by other threads in an observed run",
        message: "`{blame}` is not atomic: another thread ran between its use of `{first}` and its use of `{second}`",
        roles: &[
            ("block", "this block is meant to be atomic"),
            ("first", "first, `{thread}` {verb} `{subject}` here"),
            ("interferes", "then `{thread}` {verb} `{subject}` here"),
            ("second", "last, `{thread}` {verb} `{subject}` here"),
        ],
        advice: "hold one lock from the first use to the second, or mark the block as not atomic if it need not be",
    }
}
