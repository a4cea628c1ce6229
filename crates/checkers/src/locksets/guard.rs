//! The locks that guard one variable.

use events::{Access, ObjectId, ThreadId};

use super::held::HeldLocks;
use super::sets::{SetId, Sets};

/// Which threads have used the variable. Before the first use there is no [`GuardState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ownership {
    /// One thread, which needs no locks: it may be initialising the object.
    Exclusive(ThreadId),
    /// Several threads, which have only read since the second thread's first access.
    Shared,
    /// Several threads, and one of them wrote since the second thread's first access.
    SharedModified,
}

/// Whether an access is guarded, given all accesses before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardStatus {
    /// Only this thread has used the variable.
    ThreadLocal,
    /// No thread writes the variable, or a lock is held that was held at every access.
    Guarded,
    /// A read that holds a lock that was held at every write: no write can happen concurrently, although
    /// other reads hold no lock.
    GuardedFromWrites,
    /// No lock was held at every access.
    Unguarded,
}

/// Which threads have used a variable, and its GuardSet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuardState {
    ownership: Ownership,
    /// The locks held at every access since the second thread came, at writes exclusively.
    guards: SetId,
    /// The same for writes alone.
    write_guards: SetId,
}

impl GuardState {
    /// Of a variable that is used for the first time.
    pub(crate) fn new(thread: ThreadId) -> GuardState {
        let ownership = Ownership::Exclusive(thread);
        GuardState { ownership, guards: SetId::ALL, write_guards: SetId::ALL }
    }

    /// Processes the next access.
    pub(crate) fn access(
        &mut self,
        thread: ThreadId,
        access: Access,
        held: &mut HeldLocks,
        sets: &mut Sets<ObjectId>,
    ) -> GuardStatus {
        if self.ownership == Ownership::Exclusive(thread) {
            return GuardStatus::ThreadLocal;
        }
        self.leave_exclusive(access);
        let (all, exclusive) = held.sets(sets);
        let held = match access {
            Access::Read => all,
            Access::Write => exclusive,
        };
        self.guards = sets.intersect(self.guards, held);
        if access == Access::Write {
            self.write_guards = sets.intersect(self.write_guards, held);
        }
        if self.is_guarded() {
            GuardStatus::Guarded
        } else if access == Access::Read && sets.meet(self.write_guards, all) {
            GuardStatus::GuardedFromWrites
        } else {
            GuardStatus::Unguarded
        }
    }

    /// Processes an access that is reported late, without its locks. Hooks report late only while one
    /// thread has used the variable, when locks do not matter; for other sources, the locks are assumed to
    /// be correct.
    pub(crate) fn earlier(&mut self, thread: ThreadId, access: Access) {
        if self.ownership != Ownership::Exclusive(thread) {
            self.leave_exclusive(access);
        }
    }

    fn leave_exclusive(&mut self, access: Access) {
        self.ownership = match (self.ownership, access) {
            (Ownership::Exclusive(_) | Ownership::Shared, Access::Read) => Ownership::Shared,
            (Ownership::SharedModified, _) | (_, Access::Write) => Ownership::SharedModified,
        };
    }

    /// Whether one thread alone has used the variable.
    pub(crate) fn is_exclusive(&self) -> bool {
        matches!(self.ownership, Ownership::Exclusive(_))
    }

    /// Whether accesses cannot race, given those so far.
    pub(crate) fn is_guarded(&self) -> bool {
        match self.ownership {
            Ownership::Exclusive(_) | Ownership::Shared => true,
            Ownership::SharedModified => self.guards != SetId::EMPTY,
        }
    }

    /// The numbers of its sets.
    pub(crate) fn set_ids(&mut self) -> [&mut SetId; 2] {
        [&mut self.guards, &mut self.write_guards]
    }
}
