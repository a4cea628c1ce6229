//! The vector clocks of locks, volatile variables, tasks and other synchronisation objects.

use events::{ClassId, Mode, ObjectId, Variable};
use rustc_hash::FxHashSet;

use super::Thread;
use super::clock::Clock;
use crate::table::Key;
use crate::timeline::{ThreadSlot, ThreadTime};

/// A synchronisation object that has clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockKey {
    Lock(ObjectId),
    Volatile(Variable),
    Submitted(ObjectId),
    Ended(ObjectId),
    Published(ObjectId),
    Latch(ObjectId),
    Class(ClassId),
    /// A place in memory that library code releases to.
    Place(ObjectId),
}

/// Places in memory have this bit in their numbers; objects have smaller ones.
const PLACE: u64 = 1 << 62;

impl ClockKey {
    /// What library code releases to: a place in memory, or the monitor of an object that the program locks as well.
    pub(super) fn of_place(place: ObjectId) -> ClockKey {
        if place.0 & PLACE == 0 { ClockKey::Lock(place) } else { ClockKey::Place(place) }
    }
}

impl From<ClockKey> for Key {
    fn from(key: ClockKey) -> Key {
        let kind = Key::FIRST_OTHER_KIND;
        match key {
            ClockKey::Volatile(variable) => Key::from(variable),
            ClockKey::Lock(object) => Key::new(kind, object),
            ClockKey::Submitted(object) => Key::new(kind + 1, object),
            ClockKey::Ended(object) => Key::new(kind + 2, object),
            ClockKey::Published(object) => Key::new(kind + 3, object),
            ClockKey::Latch(object) => Key::new(kind + 4, object),
            ClockKey::Class(class) => Key::of_class(kind + 5, class),
            ClockKey::Place(place) => Key::new(kind + 6, place),
        }
    }
}

/// The clocks of one synchronisation object.
#[derive(Debug, Default)]
pub(super) struct SyncClocks {
    /// Joined by exclusive releases and publications.
    exclusive: Clock,
    /// The release whose clock `exclusive` is; none if several were joined.
    by: ThreadTime,
    /// The version of that thread's clock.
    version: u64,
    /// Joined by shared releases.
    shared: Clock,
}

impl SyncClocks {
    /// Whether no thread has released to it yet.
    pub(super) fn is_new(&self) -> bool {
        self.exclusive.is_empty() && self.shared.is_empty()
    }

    /// Joins the clocks into that of an acquiring thread.
    pub(super) fn join_into(&self, thread: &mut Thread, slot: ThreadSlot, mode: Mode) {
        // A thread that is ordered after the release has its clock already: deviation 5 of the checker.
        let is_known = !self.by.is_none() && thread.is_ordered_after(slot, self.by);
        if !is_known && !self.exclusive.is_empty() {
            thread.join_clock(&self.exclusive);
        }
        match mode {
            Mode::Exclusive if !self.shared.is_empty() => thread.join_clock(&self.shared),
            Mode::Exclusive | Mode::Shared => {}
        }
    }

    /// Replaces the clocks by that of an exclusively releasing thread.
    pub(super) fn replace(&mut self, thread: &mut Thread, slot: ThreadSlot) {
        let now = thread.timeline.now();
        let is_same =
            !self.by.is_none() && self.by.slot() == slot && self.version == thread.version;
        if is_same {
            self.exclusive.set(slot, now);
        } else {
            self.exclusive.assign(thread.full_clock(slot));
            self.version = thread.version;
        }
        self.by = ThreadTime::new(slot, now);
        self.shared.clear();
    }

    /// Joins the clock of a publishing thread.
    pub(super) fn add(&mut self, thread: &mut Thread, slot: ThreadSlot) {
        let is_known = if self.by.is_none() {
            thread.full_clock(slot).covers_all(&self.exclusive)
        } else {
            thread.is_ordered_after(slot, self.by)
        };
        if is_known {
            self.replace(thread, slot);
        } else {
            self.exclusive.join(thread.full_clock(slot));
            self.by = ThreadTime::NONE;
        }
    }

    /// Joins the clock that a thread had at an earlier time.
    pub(super) fn add_clock(&mut self, clock: &Clock) {
        self.exclusive.join(clock);
        self.by = ThreadTime::NONE;
    }

    /// Joins the clock of a thread that releases a shared lock.
    pub(super) fn share(&mut self, thread: &mut Thread, slot: ThreadSlot) {
        self.shared.join(thread.full_clock(slot));
    }

    /// Starts with the clock of what was forgotten.
    pub(super) fn start_from(&mut self, forgotten: &Clock) {
        self.exclusive.assign(forgotten);
    }

    pub(super) fn is_covered_by(&self, known: &Clock) -> bool {
        known.covers_all(&self.exclusive) && known.covers_all(&self.shared)
    }

    pub(super) fn add_to(&self, clock: &mut Clock) {
        clock.join(&self.exclusive);
        clock.join(&self.shared);
    }
}

/// A barrier: the threads that are waiting, and the clock of the last generation that passed.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    arrived: Clock,
    waiting: FxHashSet<ThreadSlot>,
    released: Clock,
}

impl Barrier {
    pub(super) fn arrive(&mut self, slot: ThreadSlot, full_clock: &Clock) {
        self.arrived.join(full_clock);
        self.waiting.insert(slot);
    }

    /// The joined clock of all threads that arrived before the barrier opened for this one. A thread that
    /// passes was waiting, or another one of its generation has passed already.
    pub(super) fn pass(&mut self, slot: ThreadSlot) -> &Clock {
        if self.waiting.contains(&slot) {
            std::mem::swap(&mut self.arrived, &mut self.released);
            self.arrived.clear();
            self.waiting.clear();
        }
        &self.released
    }

    /// Whether a thread may still join its clock.
    pub(super) fn is_needed(&self, known: &Clock) -> bool {
        !self.waiting.is_empty() || !known.covers_all(&self.released)
    }
}
