//! Rule `wait-outside-loop`.

use crate::Severity;

super::rule! {
    /// # wait-outside-loop
    ///
    /// `wait` or `await` is called, and no loop around it asks whether what is waited for is there.
    ///
    /// ## Why it matters
    ///
    /// A waiting thread can wake up without a notification, by one that was meant for another thread, or after a third thread has
    /// taken what it waited for. And a notification that comes before the wait is missed for ever.
    ///
    /// ## Example
    ///
    /// ```java
    /// synchronized Job take() throws InterruptedException {
    ///     if (jobs.isEmpty()) wait();
    ///     return jobs.removeFirst();      // may be empty again
    /// }
    /// ```
    ///
    /// ## Fix
    ///
    /// Ask again:
    ///
    /// ```java
    /// while (jobs.isEmpty()) wait();
    /// ```
    ///
    /// ## How findings are graded
    ///
    /// - `high`: the wait has no timeout;
    /// - `low`: it has one, and may be meant as a pause. Shown with `--level low` only.
    ///
    /// ## Limitations
    ///
    /// A method that only waits is not reported if all calls of it are in loops. Whether the loop asks for the right thing is
    /// not looked at.
    static RULE = {
        name: "wait-outside-loop",
        on_by_default: true,
        default_level: Severity::Medium,
        summary: "a thread waits for a notification without asking again afterwards",
        message: "`{blame}` waits on `{object}` outside a loop",
        roles: &[
            ("waits", "the thread waits here, and goes on whatever woke it up"),
        ],
        advice: "wait in a loop that asks for the condition: `while (!condition) {object}.wait();`",
    }
}
