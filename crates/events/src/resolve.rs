//! Moves events that are reported later than they happened to their place.
//!
//! A stream holds accesses that are reported when another thread comes to conflict with them, and
//! begins of blocks that are reported with the first event in them; the head of `event.rs` says what
//! their epochs mean. Here each is moved to where it belongs among the events of its thread, so that
//! tools which know nothing of epochs can read the trace, and checkers have something to agree with.
//!
//! After it there is no [`Action::EarlierRead`] or [`Action::EarlierWrite`], and the epochs of every thread do not decrease if those
//! of what was reported at once do not.
//!
//! **Where an access belongs.** In its epoch nothing began and nothing was received, so its place
//! among the events of the epoch does not matter to what may have come before it; but what the thread
//! released in the epoch may have been released after the access or before. It is put first: before
//! everything in its epoch but the event that began the epoch, which is a begin of a block or something
//! that receives an edge. So an access is never placed after a release that it came before;
//! one that came after a release in the same epoch may be placed before it.
//! If the thread has reported nothing since, the access stays where it was reported, directly before what
//! conflicts with it.
//!
//! **Where a begin belongs.** Before all accesses of its epoch and of later ones. Where another thread
//! made such an access known before the block was, the begin is moved there.
//!
//! Events with epoch 0 come from sources that count none; they stay.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Action, Epoch, Event, ThreadId, Variable};

/// What was reported at once, by one thread.
#[derive(Debug, Default)]
struct History {
    /// Its position in the stream.
    positions: Vec<usize>,
    /// The greatest epoch up to there. It is the event's own if the stream is as it should be.
    epochs: Vec<u64>,
    late: Vec<LateAccess>,
}

/// An access that was reported later than it happened.
#[derive(Debug)]
struct LateAccess {
    epoch: u64,
    reported_at: usize,
}

/// Where a late event is moved: before or after the event with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TargetPosition {
    beside: usize,
    side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Before,
    After,
}

/// The same events, each in its place.
#[must_use]
pub fn resolve(events: &[Event]) -> Vec<Event> {
    let mut histories: FxHashMap<ThreadId, History> = FxHashMap::default();
    // The same access may be reported twice.
    let mut known: FxHashSet<Event> = FxHashSet::default();
    let mut volatile: FxHashSet<Variable> = FxHashSet::default();
    let mut is_moved = vec![false; events.len()];
    for (position, event) in events.iter().enumerate() {
        let history = histories.entry(event.thread).or_default();
        if let Action::VolatileRead(variable) | Action::VolatileWrite(variable) = event.action {
            volatile.insert(variable);
        }
        if event.action.is_earlier() {
            if event.epoch == Epoch(0) {
                continue;
            }
            is_moved[position] = true;
            if known.insert(*event) {
                history.late.push(LateAccess { epoch: event.epoch.0, reported_at: position });
            }
        } else {
            let before = history.epochs.last().copied().unwrap_or(0);
            history.positions.push(position);
            history.epochs.push(before.max(event.epoch.0));
        }
    }
    let mut moved = Vec::new();
    for history in histories.values_mut() {
        position_late_events(history, events, &mut is_moved, &mut moved);
    }
    // Nothing of two threads has the same slot, so the order of the threads does not matter.
    moved.sort_by_key(|(target, event): &(TargetPosition, usize)| {
        let begins_last = !matches!(events[*event].action, Action::Begin);
        (*target, events[*event].epoch, begins_last, *event)
    });
    let mut moved = moved.into_iter().peekable();
    let mut resolved = Vec::with_capacity(events.len());
    for (position, event) in events.iter().enumerate() {
        let before = TargetPosition { beside: position, side: Side::Before };
        while let Some((_, number)) = moved.next_if(|(target, _)| *target <= before) {
            resolved.push(at_once(events[number], &volatile));
        }
        if !is_moved[position] {
            resolved.push(at_once(*event, &volatile));
        }
        let after = TargetPosition { beside: position, side: Side::After };
        while let Some((_, number)) = moved.next_if(|(target, _)| *target <= after) {
            resolved.push(at_once(events[number], &volatile));
        }
    }
    resolved
}

/// Finds the slots of the late accesses of a thread, and of the begins that must come before them.
fn position_late_events(
    history: &mut History,
    events: &[Event],
    is_moved: &mut [bool],
    moved: &mut Vec<(TargetPosition, usize)>,
) {
    // From the last epoch to the first: what happened earlier must not be placed later.
    history.late.sort_by_key(|late| std::cmp::Reverse(late.epoch));
    let mut limit: Option<TargetPosition> = None;
    let mut next_limit: Option<TargetPosition> = None;
    let mut limited_epoch = None;
    // The first report of an access of each epoch or a later one, from the last epoch to the first.
    let mut first_reports: Vec<(u64, usize)> = Vec::new();
    for late in &history.late {
        if limited_epoch != Some(late.epoch) {
            limit = next_limit;
            limited_epoch = Some(late.epoch);
        }
        let own = own_position(history, events, late);
        let target = limit.map_or(own, |limit| limit.min(own));
        next_limit = Some(next_limit.map_or(target, |next| next.min(target)));
        moved.push((target, late.reported_at));
        let first = first_reports.last().map_or(usize::MAX, |(_, first)| *first);
        if late.reported_at < first {
            first_reports.push((late.epoch, late.reported_at));
        }
    }
    for position in &history.positions {
        let event = &events[*position];
        if !matches!(event.action, Action::Begin) || event.epoch == Epoch(0) {
            continue;
        }
        // Epochs decrease along the list, and places too: the last one that is not before the block.
        let count = first_reports.partition_point(|(epoch, _)| *epoch >= event.epoch.0);
        let Some((_, reported_at)) = count.checked_sub(1).map(|last| first_reports[last]) else {
            continue;
        };
        if reported_at < *position {
            is_moved[*position] = true;
            moved.push((TargetPosition { beside: reported_at, side: Side::Before }, *position));
        }
    }
}

/// Where an access belongs if nothing else was late.
fn own_position(history: &History, events: &[Event], late: &LateAccess) -> TargetPosition {
    let next = history.epochs.partition_point(|epoch| *epoch < late.epoch);
    let Some(position) =
        history.positions.get(next).filter(|position| **position < late.reported_at)
    else {
        return TargetPosition { beside: late.reported_at, side: Side::Before };
    };
    let began = events[*position].epoch.0 == late.epoch && begins_epoch(&events[*position].action);
    TargetPosition { beside: *position, side: if began { Side::After } else { Side::Before } }
}

/// Whether an epoch begins with it.
fn begins_epoch(action: &Action) -> bool {
    match action {
        Action::VolatileRead(_)
        | Action::AtomicUpdate(_)
        | Action::AtomicAdd(_)
        | Action::AtomicSwap(_)
        | Action::Acquire(_)
        | Action::AcquireShared(_)
        | Action::Woken(_)
        | Action::ThreadBegin
        | Action::Join(_)
        | Action::TaskBegin(_)
        | Action::TaskJoin(_)
        | Action::Receive(_)
        | Action::BarrierPass(_)
        | Action::LatchPass(_)
        | Action::Begin
        | Action::OrderAcquire(_)
        | Action::OrderAcquireAll
        | Action::ClassUsed(_)
        | Action::Choice
        | Action::Rejoin => true,
        Action::Read(_)
        | Action::Write(_)
        | Action::EarlierRead(_)
        | Action::EarlierWrite(_)
        | Action::VolatileWrite(_)
        | Action::Release(_)
        | Action::ReleaseShared(_)
        | Action::Wait(_)
        | Action::Notify(_)
        | Action::NotifyAll(_)
        | Action::ThreadEnd
        | Action::Fork(_)
        | Action::Submit(_)
        | Action::TaskEnd(_)
        | Action::Publish(_)
        | Action::BarrierArrive(_)
        | Action::LatchDown(_)
        | Action::End
        | Action::Escape(..)
        | Action::ClassInitialised(_)
        | Action::Branch(_)
        | Action::OrderRelease(_)
        | Action::EarlierOrderRelease(_)
        | Action::LibraryOrder
        | Action::Untaken(_)
        | Action::UntakenEnd
        | Action::WouldRead(_)
        | Action::WouldWrite(_)
        | Action::WouldAcquire(_)
        | Action::WouldAcquireShared(_)
        | Action::WouldRelease(_)
        | Action::WouldReleaseShared(_)
        | Action::Given(_)
        | Action::Tried(_)
        | Action::Holds(_)
        | Action::Blocked(_)
        | Action::BlockedByThread(_)
        | Action::Stalled(..)
        | Action::Hung
        | Action::Starved(_)
        | Action::Missed => false,
    }
}

/// The event as if it had been reported at once.
fn at_once(event: Event, volatile: &FxHashSet<Variable>) -> Event {
    let action = if let Action::EarlierRead(variable) = event.action {
        if volatile.contains(&variable) {
            Action::VolatileRead(variable)
        } else {
            Action::Read(variable)
        }
    } else if let Action::EarlierWrite(variable) = event.action {
        Action::Write(variable)
    } else {
        return event;
    };
    Event { action, ..event }
}
