//! What the rules are known to miss, with the reason. Each entry must still be needed: a gap that no program shows any
//! more fails the test, so that the table does not outlive what it excuses.

use crate::explore::{Deadlock, NotAtomic};

/// A kind of miss that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    /// Volatile variables alone.
    Volatile,
    /// A thread waits for the end of another while it holds a lock that the other wants.
    JoinUnderLock,
    /// The thread would have been woken if it had been there earlier.
    LostNotification,
}

impl Gap {
    pub(crate) const ALL: [Gap; 3] = [Gap::Volatile, Gap::JoinUnderLock, Gap::LostNotification];

    /// Why the rules miss it.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Gap::Volatile => {
                "views leave volatile variables out: most are flags that are meant to change at \
                 any time (dissertation, 5.2.1)"
            }
            Gap::JoinUnderLock => {
                "the lock-order graph knows locks only; the end of a thread is none (6.1)"
            }
            Gap::LostNotification => {
                "whether a notification comes too early depends on paths and values; the rules ask \
                 only whether there is one at all (6.4.1)"
            }
        }
    }
}

/// The gap that a deadlock which is not reported falls into.
pub(crate) fn of_deadlock(deadlock: &Deadlock) -> Option<Gap> {
    match deadlock {
        Deadlock::Locks { .. } => None,
        Deadlock::Join { .. } => Some(Gap::JoinUnderLock),
        Deadlock::Asleep { blocks_others, is_notified, .. } => {
            (*is_notified && !blocks_others).then_some(Gap::LostNotification)
        }
    }
}

/// The gap that a method which is not reported falls into.
pub(crate) fn of_method(found: &NotAtomic) -> Option<Gap> {
    found.is_volatile.then_some(Gap::Volatile)
}
