//! The latest entry of each thread, found by thread.

use crate::timeline::{ThreadSlot, ThreadTime};

/// Something that happened at a thread time.
pub(crate) trait Timed {
    /// The thread, and its time.
    fn thread_time(&self) -> ThreadTime;
}

/// At most one entry per thread, the latest, in the order of the thread slots.
#[derive(Debug)]
pub(crate) struct LatestByThread<T>(Vec<T>);

impl<T> Default for LatestByThread<T> {
    fn default() -> LatestByThread<T> {
        LatestByThread(Vec::new())
    }
}

impl<T: Timed> LatestByThread<T> {
    /// Adds an entry, unless there is a later one of its thread.
    pub(crate) fn add(&mut self, one: T) {
        match self.find(one.thread_time().slot()) {
            Ok(at) => {
                if self.0[at].thread_time().time() <= one.thread_time().time() {
                    self.0[at] = one;
                }
            }
            Err(at) => self.0.insert(at, one),
        }
    }

    fn find(&self, slot: ThreadSlot) -> Result<usize, usize> {
        // If every thread has an entry, each is at the index of its slot.
        let guess = self.0.get(slot.index());
        if guess.is_some_and(|one| one.thread_time().slot() == slot) {
            return Ok(slot.index());
        }
        self.0.binary_search_by_key(&slot, |one| one.thread_time().slot())
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
