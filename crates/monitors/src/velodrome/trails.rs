//! What is remembered of variables, locks and the other things that threads meet at.

use std::hash::Hash;

use events::{ClassId, ObjectId, SiteId};
use rustc_hash::FxHashMap;

use super::graph::Graph;
use crate::timeline::{Lane, Step};

/// A step, and the place in code it was made at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) step: Step,
    pub(super) site: SiteId,
}

/// The steps that the next step conflicts with: the last change, and what each thread did since that
/// conflicts with changes only.
#[derive(Debug, Default)]
pub(super) struct Trail {
    pub(super) change: Mark,
    /// Each of another thread.
    looks: Vec<Mark>,
}

impl Trail {
    /// Notes what conflicts with changes only: a read, the release of a shared lock, a publication.
    pub(super) fn look(&mut self, mark: Mark) {
        if mark.step.is_none() {
            return;
        }
        match self.looks.iter_mut().find(|known| known.step.lane() == mark.step.lane()) {
            Some(known) => {
                if known.step.time() <= mark.step.time() {
                    *known = mark;
                }
            }
            None => self.looks.push(mark),
        }
    }

    /// Notes a change. Everything before comes before it.
    pub(super) fn change(&mut self, mark: Mark) {
        self.change = mark;
        self.looks.clear();
    }

    pub(super) fn looks(&self) -> &[Mark] {
        &self.looks
    }

    /// Forgets what cannot be on a cycle; whether anything is left.
    fn prune(&mut self, graph: &Graph) -> bool {
        self.looks.retain(|mark| graph.node_of(mark.step).is_some());
        !self.looks.is_empty() || graph.node_of(self.change.step).is_some()
    }
}

/// Where one thread leaves what others come for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Channel {
    Submitted(ObjectId),
    Ended(ObjectId),
    Published(ObjectId),
    Latch(ObjectId),
    Class(ClassId),
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
}

/// Trails by what they are about. Those that cannot matter any more are forgotten when the table has
/// doubled.
#[derive(Debug)]
pub(super) struct Trails<K> {
    by_key: FxHashMap<K, Trail>,
    sweep_at: usize,
}

impl<K> Default for Trails<K> {
    fn default() -> Trails<K> {
        Trails { by_key: FxHashMap::default(), sweep_at: FIRST_SWEEP }
    }
}

const FIRST_SWEEP: usize = 4096;

impl<K: Eq + Hash> Trails<K> {
    pub(super) fn get(&self, key: &K) -> Option<&Trail> {
        self.by_key.get(key)
    }

    pub(super) fn entry(&mut self, key: K, graph: &Graph) -> &mut Trail {
        if self.by_key.len() >= self.sweep_at {
            self.by_key.retain(|_, trail| trail.prune(graph));
            self.sweep_at = (2 * self.by_key.len()).max(FIRST_SWEEP);
        }
        self.by_key.entry(key).or_default()
    }
}
