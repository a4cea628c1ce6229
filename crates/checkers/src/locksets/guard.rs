//! What is known of how one variable is guarded.

use events::{Access, ObjectId, ThreadId};

use super::held::HeldLocks;
use super::sets::{SetId, Sets};

/// Who has used the variable. Before the first use there is no [`GuardState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ownership {
    /// One thread, which needs no locks: it may be making the object.
    Exclusive(ThreadId),
    /// Several threads, and since the second came all of them have only read.
    Shared,
    /// Several threads, and one of them wrote since the second came.
    SharedModified,
}

/// How one access stands to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardStatus {
    /// The variable is its thread's own.
    ThreadLocal,
    /// Nobody writes the variable, or a lock is held that was held at every access.
    Guarded,
    /// A read that holds a lock that was held at every write: no write can come beside it, although
    /// other reads come without a lock.
    GuardedFromWrites,
    /// No lock was held at every access.
    Unguarded,
}

/// Who has used a variable, and its GuardSet.
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

    /// Takes the next access.
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

    /// Takes an access that happened before and of which the locks are not known. While it is reported
    /// late a variable is its thread's own, so that they do not matter; from a source that reports
    /// later ones late too, they are taken to be the right ones.
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

    /// Whether accesses cannot meet, as far as was seen.
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
