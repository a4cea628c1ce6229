//! The locks that threads hold.

use events::{Mode, ObjectId, SiteId, ThreadId};
use rustc_hash::FxHashMap;

use super::sets::{SetId, Sets};

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Acquisition {
    pub(crate) lock: ObjectId,
    pub(crate) mode: Mode,
    /// Where it was acquired.
    pub(crate) site: SiteId,
}

/// The locks that one thread holds, outermost first.
#[derive(Debug, Default)]
pub(crate) struct HeldLocks {
    locks: Vec<Acquisition>,
    /// Their set, and that of those held exclusively, once computed.
    sets: Option<(SetId, SetId)>,
}

impl HeldLocks {
    pub(crate) fn locks(&self) -> &[Acquisition] {
        &self.locks
    }

    fn add(&mut self, held: Acquisition) {
        // Re-entrant acquisitions are not reported; if one is, it changes nothing.
        if !self.locks.iter().any(|known| (known.lock, known.mode) == (held.lock, held.mode)) {
            self.locks.push(held);
            self.sets = None;
        }
    }

    fn remove(&mut self, lock: ObjectId, mode: Mode) -> Option<Acquisition> {
        let at = self.locks.iter().rposition(|held| (held.lock, held.mode) == (lock, mode))?;
        self.sets = None;
        Some(self.locks.remove(at))
    }

    /// The set of all of them, and that of those held exclusively: the one guards what is read, the
    /// other what is written.
    pub(crate) fn sets(&mut self, sets: &mut Sets<ObjectId>) -> (SetId, SetId) {
        let locks = &self.locks;
        *self.sets.get_or_insert_with(|| {
            let mut all: Vec<ObjectId> = locks.iter().map(|held| held.lock).collect();
            let exclusive = locks.iter().filter(|held| held.mode == Mode::Exclusive);
            let mut exclusive: Vec<ObjectId> = exclusive.map(|held| held.lock).collect();
            all.sort_unstable();
            all.dedup();
            exclusive.sort_unstable();
            (sets.intern(&all), sets.intern(&exclusive))
        })
    }
}

/// The locks that each thread holds.
#[derive(Debug, Default)]
pub(crate) struct HeldLocksByThread {
    threads: FxHashMap<ThreadId, HeldLocks>,
}

impl HeldLocksByThread {
    /// What a thread holds.
    pub(crate) fn of(&mut self, thread: ThreadId) -> &mut HeldLocks {
        self.threads.entry(thread).or_default()
    }

    /// A thread acquires a lock.
    pub(crate) fn acquire(&mut self, thread: ThreadId, held: Acquisition) {
        self.of(thread).add(held);
    }

    /// A thread releases a lock. Returns its acquisition, if it was held.
    pub(crate) fn release(
        &mut self,
        thread: ThreadId,
        lock: ObjectId,
        mode: Mode,
    ) -> Option<Acquisition> {
        self.of(thread).remove(lock, mode)
    }

    /// A thread has ended.
    pub(crate) fn end(&mut self, thread: ThreadId) {
        self.threads.remove(&thread);
    }

    /// The numbers of the sets that are remembered.
    pub(crate) fn set_ids(&mut self) -> impl Iterator<Item = &mut SetId> {
        let sets = self.threads.values_mut().filter_map(|held| held.sets.as_mut());
        sets.flat_map(|(all, exclusive)| [all, exclusive])
    }
}
