//! Vector clocks.

use crate::timeline::{ThreadSlot, ThreadTime};

/// For each thread the latest of its times that has happened before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    times: Vec<u64>,
}

impl Clock {
    #[inline]
    pub(super) fn get(&self, slot: ThreadSlot) -> u64 {
        self.times.get(slot.index()).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn set(&mut self, slot: ThreadSlot, time: u64) {
        if self.times.len() <= slot.index() {
            self.times.resize(slot.index() + 1, 0);
        }
        self.times[slot.index()] = time;
    }

    /// Whether the thread time has happened before.
    #[inline]
    pub(super) fn covers(&self, thread_time: ThreadTime) -> bool {
        thread_time.is_none() || thread_time.time() <= self.get(thread_time.slot())
    }

    /// Whether all of the other has happened before.
    pub(super) fn covers_all(&self, other: &Clock) -> bool {
        let mut at = 0..other.times.len();
        at.all(|at| other.times[at] <= self.times.get(at).copied().unwrap_or(0))
    }

    /// Takes the maximum of both; returns whether that changed anything.
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

    /// Takes the maximum of both, and calls `changed` with every slot whose time grows, and its time before.
    pub(super) fn join_with(&mut self, other: &Clock, mut changed: impl FnMut(ThreadSlot, u64)) {
        if self.times.len() < other.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (at, (time, more)) in self.times.iter_mut().zip(&other.times).enumerate() {
            if *time < *more {
                changed(ThreadSlot(at as u32), *time);
                *time = *more;
            }
        }
    }

    /// Takes the minimum of both.
    pub(super) fn meet(&mut self, other: &Clock) {
        self.times.truncate(other.times.len());
        for (time, less) in self.times.iter_mut().zip(&other.times) {
            *time = (*time).min(*less);
        }
    }

    /// How many words it takes.
    pub(super) fn size(&self) -> usize {
        self.times.len()
    }

    /// Becomes equal to the other and keeps its own allocation.
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
