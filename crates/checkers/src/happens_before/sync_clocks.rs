//! What locks, volatile variables, tasks and the like pass on from one thread to another.

use events::{ClassId, Mode, ObjectId, Variable};
use rustc_hash::FxHashSet;

use super::Thread;
use super::clock::Clock;
use crate::table::Key;
use crate::timeline::{Lane, Step};

/// Who passes something on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelayKey {
    Lock(ObjectId),
    Volatile(Variable),
    Submitted(ObjectId),
    Ended(ObjectId),
    Published(ObjectId),
    Latch(ObjectId),
    Class(ClassId),
}

impl From<RelayKey> for Key {
    fn from(key: RelayKey) -> Key {
        let kind = Key::FIRST_OTHER_KIND;
        match key {
            RelayKey::Volatile(variable) => Key::from(variable),
            RelayKey::Lock(object) => Key::new(kind, object),
            RelayKey::Submitted(object) => Key::new(kind + 1, object),
            RelayKey::Ended(object) => Key::new(kind + 2, object),
            RelayKey::Published(object) => Key::new(kind + 3, object),
            RelayKey::Latch(object) => Key::new(kind + 4, object),
            RelayKey::Class(class) => Key::of_class(kind + 5, class),
        }
    }
}

/// What is passed on.
#[derive(Debug, Default)]
pub(super) struct Relay {
    /// From those who had it to themselves, or published to it.
    exclusive: Clock,
    /// The step at which a thread knew exactly that; none if it comes from several.
    by: Step,
    /// Of what that thread knew of others.
    version: u64,
    /// From those who shared it.
    shared: Clock,
}

impl Relay {
    /// Whether nothing was ever passed on.
    pub(super) fn is_new(&self) -> bool {
        self.exclusive.is_empty() && self.shared.is_empty()
    }

    /// Tells a thread.
    pub(super) fn pass_on(&self, thread: &mut Thread, lane: Lane, mode: Mode) {
        // Who knows the step knows what was known there: see deviation 5 of the monitor.
        let is_known = !self.by.is_none() && thread.knows(lane, self.by);
        if !is_known && !self.exclusive.is_empty() {
            thread.learn(&self.exclusive);
        }
        match mode {
            Mode::Exclusive if !self.shared.is_empty() => thread.learn(&self.shared),
            Mode::Exclusive | Mode::Shared => {}
        }
    }

    /// What a thread knows takes the place of what was passed on before.
    pub(super) fn replace(&mut self, thread: &mut Thread, lane: Lane) {
        let now = thread.timeline.now();
        let is_same =
            !self.by.is_none() && self.by.lane() == lane && self.version == thread.version;
        if is_same {
            self.exclusive.set(lane, now);
        } else {
            self.exclusive.assign(thread.knowledge(lane));
            self.version = thread.version;
        }
        self.by = Step::new(lane, now);
        self.shared.clear();
    }

    /// What a thread knows is added to what is passed on.
    pub(super) fn add(&mut self, thread: &mut Thread, lane: Lane) {
        let is_known = if self.by.is_none() {
            thread.knowledge(lane).covers_all(&self.exclusive)
        } else {
            thread.knows(lane, self.by)
        };
        if is_known {
            self.replace(thread, lane);
        } else {
            self.exclusive.join(thread.knowledge(lane));
            self.by = Step::NONE;
        }
    }

    /// What a thread knows that had it together with others is added.
    pub(super) fn share(&mut self, thread: &mut Thread, lane: Lane) {
        self.shared.join(thread.knowledge(lane));
    }

    /// Passes on what others did that were forgotten.
    pub(super) fn remember(&mut self, forgotten: &Clock) {
        self.exclusive.assign(forgotten);
    }

    pub(super) fn is_known_to(&self, known: &Clock) -> bool {
        known.covers_all(&self.exclusive) && known.covers_all(&self.shared)
    }

    pub(super) fn add_to(&self, clock: &mut Clock) {
        clock.join(&self.exclusive);
        clock.join(&self.shared);
    }
}

/// A barrier: who is waiting, and what those knew who came the last time it opened.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    gathering: Clock,
    waiting: FxHashSet<Lane>,
    released: Clock,
}

impl Barrier {
    pub(super) fn arrive(&mut self, lane: Lane, knowledge: &Clock) {
        self.gathering.join(knowledge);
        self.waiting.insert(lane);
    }

    /// What all knew that arrived before the barrier opened for this thread. A thread that passes was
    /// waiting, or another one of its generation passed before.
    pub(super) fn pass(&mut self, lane: Lane) -> &Clock {
        if self.waiting.contains(&lane) {
            std::mem::swap(&mut self.gathering, &mut self.released);
            self.gathering.clear();
            self.waiting.clear();
        }
        &self.released
    }

    /// Whether somebody may still learn from it.
    pub(super) fn matters(&self, known: &Clock) -> bool {
        !self.waiting.is_empty() || !known.covers_all(&self.released)
    }
}
