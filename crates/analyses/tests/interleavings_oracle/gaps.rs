//! What the rules are known to miss, with the reason. Each entry must still be needed: a gap that no
//! program shows any more fails the test, so that the table does not outlive what it excuses.

use crate::explore::{Accesses, Deadlock, LockedCode, NotAtomic, Verdict};

/// A kind of miss that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    /// One of the variables is volatile.
    Volatile,
    /// No lock is held at both accesses of the call.
    NoCommonLock,
    /// No single section of the lock does something to both, or all of them access the variables in the same way.
    ViewsFormChain,
    /// A thread waits for the end of another while it holds a lock that the other wants.
    JoinUnderLock,
    /// The thread would have been woken if it had been there earlier.
    LostNotification,
    /// The thread waits on an object that no other knows.
    WaitsAlone,
}

impl Gap {
    pub(crate) const ALL: [Gap; 6] = [
        Gap::Volatile,
        Gap::NoCommonLock,
        Gap::ViewsFormChain,
        Gap::JoinUnderLock,
        Gap::LostNotification,
        Gap::WaitsAlone,
    ];

    /// Why the rules miss it.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Gap::Volatile => {
                "views leave volatile variables out: most are flags that are meant to change at any time \
                 (dissertation, 5.2.1)"
            }
            Gap::NoCommonLock => {
                "views are related only under one lock: most methods that touch what different locks \
                 guard are not meant to be atomic"
            }
            Gap::ViewsFormChain => {
                "steps that treat the same variables alike are taken for independent (5.4.1, Program \
                 5.4), and who comes in between must do so in one section"
            }
            Gap::JoinUnderLock => {
                "the lock-order graph knows locks only; the end of a thread is none (6.1)"
            }
            Gap::LostNotification => {
                "whether a notification comes too early depends on paths and values; the rules ask \
                 only whether there is one at all (6.4.1)"
            }
            Gap::WaitsAlone => {
                "the symbolic execution tells nothing of objects that one thread alone knows (3.4)"
            }
        }
    }
}

/// The gap that a deadlock which is not reported falls into.
pub(crate) fn of_deadlock(deadlock: &Deadlock) -> Option<Gap> {
    match deadlock {
        Deadlock::Locks { .. } => None,
        Deadlock::Join { .. } => Some(Gap::JoinUnderLock),
        Deadlock::Waiting { is_known: false, .. } => Some(Gap::WaitsAlone),
        Deadlock::Waiting { blocks_others, is_notified, .. } => {
            (*is_notified && !blocks_others).then_some(Gap::LostNotification)
        }
    }
}

/// The gap that a method which is not reported falls into.
pub(crate) fn of_method(found: &NotAtomic, verdict: &Verdict) -> Option<Gap> {
    if found.first.is_volatile || found.second.is_volatile {
        Some(Gap::Volatile)
    } else if found.common.is_empty() {
        Some(Gap::NoCommonLock)
    } else {
        let mut pairs = found.common.iter();
        let is_broken = pairs.any(|pair| breaks_chain(pair, found.thread, verdict));
        (!is_broken).then_some(Gap::ViewsFormChain)
    }
}

/// Whether some section of the same lock in another thread conflicts with both, and the three do not form a chain:
/// what the rule `inconsistent-method` promises to report, for views of fields instead of variables.
fn breaks_chain(
    (first, second): &(LockedCode, LockedCode),
    thread: usize,
    verdict: &Verdict,
) -> bool {
    let view = |code: &LockedCode| {
        let view = verdict.views.get(&(code.clone(), thread));
        view.map(|view| view.all.clone()).unwrap_or_default()
    };
    let (one, other) = (view(first), view(second));
    let others = verdict.views.iter().filter(|((code, its), view)| {
        code.lock == first.lock && *its != thread && view.beside.contains(&thread)
    });
    others.map(|(_, view)| &view.all).any(|third| {
        let mut in_method = third.clone();
        in_method.retain(|field, _| one.contains_key(field) || other.contains_key(field));
        let is_chain =
            is_nested(&one, &in_method) && is_nested(&other, &in_method) && is_nested(&one, &other);
        conflict(&one, third) && conflict(&other, third) && !is_chain
    })
}

fn conflict(one: &Accesses, other: &Accesses) -> bool {
    one.iter().any(|(field, updates)| other.get(field).is_some_and(|its| *updates || *its))
}

/// Whether one view is a part of the other.
fn is_nested(one: &Accesses, other: &Accesses) -> bool {
    let is_part = |part: &Accesses, whole: &Accesses| {
        part.iter().all(|(field, updates)| whole.get(field) == Some(updates))
    };
    is_part(one, other) || is_part(other, one)
}
