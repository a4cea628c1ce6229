//! What is remembered of variables, locks and the other things that threads meet at.

use events::{ClassId, ObjectId};

use super::graph::{End, Graph};
use crate::by_lane::{ByLane, Stepped};
use crate::table::Key;
use crate::timeline::{Lane, Step};

/// A step, and what was done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) step: Step,
    pub(super) end: End,
}

impl Stepped for Mark {
    fn step(&self) -> Step {
        self.step
    }
}

/// The steps that the next step conflicts with: the last change, and what each thread did since that
/// conflicts with changes only. Small, because there are many.
#[derive(Debug, Default)]
pub(super) struct Trail {
    pub(super) change: Mark,
    /// The only one.
    look: Mark,
    /// All of them, if there are several.
    looks: Option<Box<ByLane<Mark>>>,
}

impl Trail {
    /// Notes what conflicts with changes only: a read, the release of a shared lock, a publication.
    pub(super) fn look(&mut self, mark: Mark, graph: &Graph) {
        if mark.step.is_none() {
            return;
        }
        if let Some(looks) = self.looks.as_deref_mut().filter(|looks| !looks.is_empty()) {
            looks.add(mark);
            return;
        }
        let known = self.look.step;
        if !known.is_none() && known.lane() != mark.step.lane() && graph.node_of(known).is_some() {
            let looks = self.looks.get_or_insert_default();
            looks.add(self.look);
            looks.add(mark);
            self.look.step = Step::NONE;
        } else if known.lane() != mark.step.lane() || known.time() <= mark.step.time() {
            self.look = mark;
        }
    }

    /// Notes a change. Everything before comes before it.
    pub(super) fn change(&mut self, mark: Mark) {
        self.change = mark;
        self.look.step = Step::NONE;
        if let Some(looks) = &mut self.looks {
            looks.clear();
        }
    }

    /// Adds the looks to a list.
    pub(super) fn add_looks_to(&self, list: &mut Vec<Mark>) {
        if !self.look.step.is_none() {
            list.push(self.look);
        }
        if let Some(looks) = &self.looks {
            list.extend_from_slice(looks.as_slice());
        }
    }

    /// Forgets what cannot be on a cycle; whether anything is left.
    pub(super) fn prune(&mut self, graph: &Graph) -> bool {
        if let Some(looks) = &mut self.looks {
            looks.retain(|mark| graph.node_of(mark.step).is_some());
            if looks.is_empty() {
                self.looks = None;
            }
        }
        self.looks.is_some()
            || graph.node_of(self.look.step).is_some()
            || graph.node_of(self.change.step).is_some()
    }
}

/// What a trail is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    Lock(ObjectId),
    Barrier(ObjectId),
    Submitted(ObjectId),
    Ended(ObjectId),
    Latch(ObjectId),
    Class(ClassId),
}

impl From<Channel> for Key {
    fn from(channel: Channel) -> Key {
        let kind = Key::FIRST_OTHER_KIND;
        match channel {
            Channel::Lock(object) => Key::new(kind, object),
            Channel::Barrier(object) => Key::new(kind + 1, object),
            Channel::Submitted(object) => Key::new(kind + 2, object),
            Channel::Ended(object) => Key::new(kind + 3, object),
            Channel::Latch(object) => Key::new(kind + 4, object),
            Channel::Class(class) => Key::of_class(kind + 5, class),
        }
    }
}

/// A barrier: who is waiting, and who came the last time it opened.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    gathering: Vec<(Lane, Mark)>,
    released: Vec<(Lane, Mark)>,
}

impl Barrier {
    pub(super) fn arrive(&mut self, lane: Lane, mark: Mark) {
        self.gathering.retain(|(known, _)| *known != lane);
        self.gathering.push((lane, mark));
    }

    /// All that arrived before the barrier opened for this thread. A thread that passes was waiting, or
    /// another one of its generation passed before.
    pub(super) fn pass(&mut self, lane: Lane) -> impl Iterator<Item = Mark> {
        if self.gathering.iter().any(|(known, _)| *known == lane) {
            std::mem::swap(&mut self.gathering, &mut self.released);
            self.gathering.clear();
        }
        self.released.iter().map(|(_, mark)| *mark)
    }

    /// Whether somebody may still come after one who arrived.
    pub(super) fn matters(&mut self, graph: &Graph) -> bool {
        self.released.retain(|(_, mark)| graph.node_of(mark.step).is_some());
        !self.gathering.is_empty() || !self.released.is_empty()
    }
}
