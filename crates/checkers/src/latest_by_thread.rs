//! Steps of different threads, one of each, found by thread.

use crate::timeline::{Lane, Step};

/// Something that was done at a step.
pub(crate) trait Stepped {
    /// When, and by whom.
    fn step(&self) -> Step;
}

/// At most one thing of each thread: the latest. In the order of their lanes.
#[derive(Debug)]
pub(crate) struct ByLane<T>(Vec<T>);

impl<T> Default for ByLane<T> {
    fn default() -> ByLane<T> {
        ByLane(Vec::new())
    }
}

impl<T: Stepped> ByLane<T> {
    /// Adds a step, unless there is a later one of its thread.
    pub(crate) fn add(&mut self, one: T) {
        match self.find(one.step().lane()) {
            Ok(at) => {
                if self.0[at].step().time() <= one.step().time() {
                    self.0[at] = one;
                }
            }
            Err(at) => self.0.insert(at, one),
        }
    }

    fn find(&self, lane: Lane) -> Result<usize, usize> {
        // Where all threads are there, each is at its own place.
        let guess = self.0.get(lane.index());
        if guess.is_some_and(|one| one.step().lane() == lane) {
            return Ok(lane.index());
        }
        self.0.binary_search_by_key(&lane, |one| one.step().lane())
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.0.retain(keep);
    }

    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
