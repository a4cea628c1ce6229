//! Vector clocks.

use crate::timeline::{Lane, Step};

/// For each thread the latest of its times that has happened before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    times: Vec<u64>,
}

impl Clock {
    pub(super) fn get(&self, lane: Lane) -> u64 {
        self.times.get(lane.index()).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, lane: Lane, time: u64) {
        if self.times.len() <= lane.index() {
            self.times.resize(lane.index() + 1, 0);
        }
        self.times[lane.index()] = time;
    }

    /// Whether the step has happened before.
    pub(super) fn covers(&self, step: Step) -> bool {
        step.is_none() || step.time() <= self.get(step.lane())
    }

    /// Whether all of the other has happened before.
    pub(super) fn covers_all(&self, other: &Clock) -> bool {
        let mut at = 0..other.times.len();
        at.all(|at| other.times[at] <= self.times.get(at).copied().unwrap_or(0))
    }

    /// Takes over what the other knows. Whether that was more.
    pub(super) fn join(&mut self, other: &Clock) -> bool {
        if self.times.len() < other.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        let mut is_more = false;
        for (time, more) in self.times.iter_mut().zip(&other.times) {
            is_more |= *time < *more;
            *time = (*time).max(*more);
        }
        is_more
    }

    /// Keeps only what the other knows too.
    pub(super) fn meet(&mut self, other: &Clock) {
        self.times.truncate(other.times.len());
        for (time, less) in self.times.iter_mut().zip(&other.times) {
            *time = (*time).min(*less);
        }
    }

    /// Becomes the other, in the memory it has.
    pub(super) fn assign(&mut self, other: &Clock) {
        self.times.clone_from(&other.times);
    }

    pub(super) fn clear(&mut self) {
        self.times.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }
}
