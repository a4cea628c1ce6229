//! The words that the tables are written in: the effects that many rows share, and the macro that
//! turns rows into constants.
//!
//! `TAKES`, `KEEPS` and the like name an effect on the receiver unless they say otherwise; a number
//! at the end names the argument that plays the other part.

pub(super) use super::{Effect, Mode, Model, Operand, Ordering, Outcome, Runner, Times, WaitKind};

use Effect::*;
use Operand::{Argument, Callbacks, Elements, Receiver};

/// Makes a table: class names, an arrow, then in braces one row a line,
/// `"method", "another" "descriptor" [EFFECT, EFFECT];`. Rows of several classes, and of several
/// methods with the same effects, are written once.
macro_rules! models {
    ($($($class:literal),+ => $rows:tt)*) => {
        &[$($($crate::models::vocabulary::class_models!($class, $rows)),+),*]
    };
}
pub(super) use models;

/// The rows of one class; only [`models!`] calls it.
macro_rules! class_models {
    ($class:literal, { $($($method:literal),+ $descriptor:literal $effects:tt;)* }) => {
        &[$($($crate::models::Model {
            class: $class,
            method: $method,
            descriptor: $descriptor,
            effects: &$effects,
        }),+),*]
    };
}
pub(super) use class_models;

/// Takes and gives back the receiver's monitor.
pub(super) const SYNC: Effect = Synchronized { lock: Receiver };
/// Takes and gives back the monitor of the declaring class.
pub(super) const SYNC_CLASS: Effect = Synchronized { lock: Operand::Class };
/// Takes and gives back the monitor of the object in the receiver's field `mutex`.
pub(super) const SYNC_MUTEX: Effect = Synchronized { lock: Operand::Field("mutex") };
/// Takes and gives back the monitor of the object in the receiver's field `lock`.
pub(super) const SYNC_LOCK: Effect = Synchronized { lock: Operand::Field("lock") };

/// Reads the receiver's contents without protection of its own.
pub(super) const READ: Effect = Read { of: Receiver };
/// Writes the receiver's contents without protection of its own.
pub(super) const WRITE: Effect = Write { of: Receiver };
/// Goes through argument 0, by that object's own methods.
pub(super) const READS0: Effect = Read { of: Argument(0) };
/// Looks at the contents of a concurrent collection.
pub(super) const LOOK: Effect = AtomicRead { of: Receiver, ordering: Ordering::Opaque };
/// Changes the contents of a concurrent collection.
pub(super) const CHANGE: Effect = update(Receiver, Ordering::Opaque, Outcome::Always);
/// Changes the contents of a concurrent collection, if the call returns `true`.
pub(super) const CHANGE_IF: Effect = update(Receiver, Ordering::Opaque, Outcome::IfTrue);
/// Publishes to the receiver.
pub(super) const PUBLISH: Effect = Publish { to: Receiver };
/// Receives from the receiver.
pub(super) const RECEIVE: Effect = receive(Outcome::Always);
/// Receives from the receiver if the call returns `true`.
pub(super) const RECEIVE_IF: Effect = receive(Outcome::IfTrue);
/// Receives from the receiver if the call returns something.
pub(super) const RECEIVE_SOME: Effect = receive(Outcome::IfNonNull);

/// The receiver keeps argument 0.
pub(super) const KEEPS0: Effect = Store { value: Argument(0), into: Receiver };
/// The receiver keeps argument 1.
pub(super) const KEEPS1: Effect = Store { value: Argument(1), into: Receiver };
/// The receiver keeps argument 2.
pub(super) const KEEPS2: Effect = Store { value: Argument(2), into: Receiver };
/// The receiver keeps the elements of argument 0.
pub(super) const KEEPS_ALL0: Effect = Store { value: Elements(0), into: Receiver };
/// The receiver keeps the elements of argument 1.
pub(super) const KEEPS_ALL1: Effect = Store { value: Elements(1), into: Receiver };
/// The receiver keeps what the callback returns.
pub(super) const KEEPS_MADE: Effect = Store { value: Operand::CallbackResult, into: Receiver };
/// The result was kept by the receiver.
pub(super) const GIVES: Effect = Load { from: Receiver };
/// The result is a view of the receiver.
pub(super) const VIEW: Effect = View { of: Receiver };
/// The result is a view of argument 0.
pub(super) const VIEW0: Effect = View { of: Argument(0) };
/// The result is new.
pub(super) const FRESH: Effect = ReturnsFresh;

/// Runs its callbacks in the calling thread, any number of times.
pub(super) const RUNS: Effect = RunsTask { task: Callbacks, times: Times::Repeatedly };
/// Runs its callback in the calling thread, once or not at all.
pub(super) const RUNS_ONCE: Effect = RunsTask { task: Callbacks, times: Times::Once };
/// Callbacks get what the receiver keeps.
pub(super) const FEEDS: Effect = Feeds { task: Callbacks, from: Receiver };

/// May block for good; an interrupt ends it.
pub(super) const BLOCKS: Effect = Blocks { timed: false, interruptible: true };
/// May block for a limited time; an interrupt ends it.
pub(super) const BLOCKS_TIMED: Effect = Blocks { timed: true, interruptible: true };
/// May block for good, whatever interrupts come.
pub(super) const BLOCKS_DEAF: Effect = Blocks { timed: false, interruptible: false };
/// May block for a limited time, whatever interrupts come.
pub(super) const BLOCKS_TIMED_DEAF: Effect = Blocks { timed: true, interruptible: false };

/// Receives from the receiver when the outcome is reached.
pub(super) const fn receive(outcome: Outcome) -> Effect {
    Receive { from: Receiver, outcome }
}

/// An atomic read and write.
pub(super) const fn update(of: Operand, ordering: Ordering, outcome: Outcome) -> Effect {
    AtomicUpdate { of, ordering, outcome }
}

/// Acquires the receiver's lock.
pub(super) const fn acquire(mode: Mode, outcome: Outcome) -> Effect {
    Acquire { lock: Receiver, mode, outcome }
}

/// Releases the receiver's lock.
pub(super) const fn release(mode: Mode, outcome: Outcome) -> Effect {
    Release { lock: Receiver, mode, outcome }
}

/// Hands a task to another thread, to be run once.
pub(super) const fn submit(task: Operand, to: Runner) -> Effect {
    Submit { task, to, times: Times::Once }
}

/// Waits without limit until the task has ended.
pub(super) const fn join(task: Operand) -> Effect {
    Join { task, timed: false, outcome: Outcome::Always }
}

/// Learns from the result whether the task has ended.
pub(super) const fn join_if(task: Operand, outcome: Outcome) -> Effect {
    Join { task, timed: true, outcome }
}

/// Waits, on the receiver's monitor or condition.
pub(super) const fn wait(kind: WaitKind, timed: bool) -> Effect {
    Wait { on: Receiver, kind, timed }
}
