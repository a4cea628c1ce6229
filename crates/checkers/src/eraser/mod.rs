//! Variables that no lock guards: rule `lockset-race`.
//!
//! Implements "Eraser: A Dynamic Data Race Detector for Multithreaded Programs", sections 2 and 3, with the
//! states virgin, exclusive, shared and shared-modified (Figure 4) and locks in shared mode (3.3).
//!
//! Property: a variable is reported iff, since a second thread first used it, it was written, and no one lock
//! was held at every access: at writes exclusively, at reads in any mode. Neither sound nor complete: it may
//! report variables that something other than a lock protects (starting and joining threads, a flag
//! that hands them over), and misses accesses that were made without a lock before the second thread
//! came. Unlike a happens-before race, what it reports does not depend on the order in which the locks
//! happened to be acquired.
//!
//! Deviations from the paper, with the reason:
//! 1. A variable is reported once, when its GuardSet becomes empty or, empty, begins to matter; with an access
//!    of another thread, if possible one that shares no lock with it. The paper names one access only.
//! 2. Volatile variables and atomics are not checked: they are meant to be used without locks.
//! 3. Accesses that are reported late ([`events::Action::EarlierRead`], [`events::Action::EarlierWrite`]) carry no locks, and refine nothing. While
//!    hooks report late, the variable is its thread's own.
//! 4. A table of variables that is full forgets those that were not used lately, which can miss
//!    warnings: no event says when an object is collected.

mod report;

use events::{Access, Action, Event, Mode, ObjectId, SiteId, Tables, ThreadId, Variable};
use findings::Finding;

use crate::locksets::{
    Acquisition, BoundedTable, GuardState, GuardStatus, HeldLocksByThread, ReportedAccess, SetId,
    Sets,
};
use crate::{Checker, NeededAccesses, Needs, Registration};
use report::{Race, Races};

const RULE: &str = "lockset-race";

/// Its entry in the list of checkers.
pub const CHECKER: Registration = Registration {
    name: "eraser",
    rules: &[RULE],
    on_by_default: false,
    needs: Needs {
        accesses: NeededAccesses::All,
        nested_blocks: true,
        order: false,
        speculation: false,
    },
    looks_into_libraries: true,
    start: |_| Box::new(Eraser::default()),
};

/// An access that may become the first of a pair.
#[derive(Clone, Copy, Debug)]
struct AccessWithLocks {
    access: Access,
    thread: ThreadId,
    site: SiteId,
    /// The locks held, with the sites where they were acquired; [`SetId::ALL`] if not known.
    held: SetId,
}

/// The last access, and the last one of another thread.
#[derive(Clone, Copy, Debug, Default)]
struct RecentAccesses {
    last: Option<AccessWithLocks>,
    of_another: Option<AccessWithLocks>,
}

impl RecentAccesses {
    fn note(&mut self, this_access: AccessWithLocks) {
        if self.last.is_some_and(|last| last.thread != this_access.thread) {
            self.of_another = self.last;
        }
        self.last = Some(this_access);
    }

    /// The latest access of a thread other than this one.
    fn not_of(&self, thread: ThreadId) -> Option<AccessWithLocks> {
        self.last.filter(|last| last.thread != thread).or(self.of_another)
    }

    fn set_ids(&mut self) -> impl Iterator<Item = &mut SetId> {
        [&mut self.last, &mut self.of_another]
            .into_iter()
            .flatten()
            .map(|this_access| &mut this_access.held)
    }
}

/// The state of a variable.
#[derive(Debug)]
struct VariableState {
    guard: GuardState,
    reads: RecentAccesses,
    writes: RecentAccesses,
    is_reported: bool,
}

impl VariableState {
    fn new(thread: ThreadId) -> VariableState {
        VariableState {
            guard: GuardState::new(thread),
            reads: RecentAccesses::default(),
            writes: RecentAccesses::default(),
            is_reported: false,
        }
    }

    fn note(&mut self, this_access: AccessWithLocks) {
        match this_access.access {
            Access::Read => self.reads.note(this_access),
            Access::Write => self.writes.note(this_access),
        }
    }
}

/// The checker.
#[derive(Debug, Default)]
pub struct Eraser {
    held_locks: HeldLocksByThread,
    sets: Sets<ObjectId>,
    /// Sets of held locks, with the sites where they were acquired.
    held: Sets<Acquisition>,
    variables: BoundedTable<Variable, VariableState>,
    races: Races,
}

impl Eraser {
    /// How many variables were reported.
    #[must_use]
    pub fn races(&self) -> u64 {
        self.races.count
    }

    /// Whether a variable was reported.
    #[must_use]
    pub fn has_race_on(&self, variable: Variable) -> bool {
        self.variables.get(&variable).is_some_and(|known| known.is_reported)
    }

    fn access(&mut self, event: &Event, access: Access, variable: Variable) {
        self.sweep();
        let held = self.held_locks.of(event.thread);
        let known = self.variables.entry(variable, || VariableState::new(event.thread));
        if known.is_reported {
            return;
        }
        let status = known.guard.access(event.thread, access, held, &mut self.sets);
        let this_access = AccessWithLocks {
            access,
            thread: event.thread,
            site: event.site,
            held: match status {
                // Hooks report these late, without their locks.
                GuardStatus::ThreadLocal => SetId::ALL,
                GuardStatus::Guarded | GuardStatus::GuardedFromWrites | GuardStatus::Unguarded => {
                    self.held.intern(held.locks())
                }
            },
        };
        match status {
            GuardStatus::ThreadLocal | GuardStatus::Guarded => known.note(this_access),
            GuardStatus::GuardedFromWrites | GuardStatus::Unguarded => {
                known.is_reported = true;
                self.report(variable, this_access);
            }
        }
    }

    fn report(&mut self, variable: Variable, second: AccessWithLocks) {
        let known = self.variables.entry(variable, || VariableState::new(second.thread));
        let (reads, writes) = (known.reads, known.writes);
        let conflicting = match second.access {
            Access::Read => [writes.not_of(second.thread), None],
            Access::Write => [writes.not_of(second.thread), reads.not_of(second.thread)],
        };
        let conflicting = || conflicting.into_iter().flatten();
        let locks = |this_access: AccessWithLocks| {
            self.held.get(this_access.held).iter().map(|held| held.lock)
        };
        let is_disjoint = |first: &AccessWithLocks| {
            first.held != SetId::ALL
                && !locks(*first).any(|lock| locks(second).any(|it| it == lock))
        };
        let first = conflicting()
            .find(is_disjoint)
            .or_else(|| conflicting().find(|first| first.held != SetId::ALL))
            .or_else(|| conflicting().next())
            .or_else(|| reads.not_of(second.thread));
        let reported = |this_access: AccessWithLocks| ReportedAccess {
            access: this_access.access,
            thread: this_access.thread,
            site: this_access.site,
            held: self.held.get(this_access.held).to_vec(),
        };
        let race = Race { variable, first: first.map(reported), second: reported(second) };
        self.races.add(race);
    }

    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        let known = self.variables.entry(variable, || VariableState::new(event.thread));
        known.guard.earlier(event.thread, access);
        if known.guard.is_exclusive() {
            let this_access = AccessWithLocks {
                access,
                thread: event.thread,
                site: event.site,
                held: SetId::ALL,
            };
            known.note(this_access);
        }
    }

    fn acquire(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.held_locks.acquire(event.thread, Acquisition { lock, mode, site: event.site });
    }

    /// Forgets the sets that nothing refers to any more.
    fn sweep(&mut self) {
        if self.sets.needs_sweep() {
            let guards = self.variables.values_mut().map(|known| &mut known.guard);
            self.sets.sweep(guards.flat_map(GuardState::set_ids).chain(self.held_locks.set_ids()));
        }
        if self.held.needs_sweep() {
            let recent =
                self.variables.values_mut().flat_map(|known| [&mut known.reads, &mut known.writes]);
            self.held.sweep(recent.flat_map(RecentAccesses::set_ids));
        }
    }
}

impl Checker for Eraser {
    fn event(&mut self, event: &Event) {
        match event.action {
            Action::Read(variable) => self.access(event, Access::Read, variable),
            Action::Write(variable) => self.access(event, Access::Write, variable),
            Action::EarlierRead(variable) => self.earlier(event, Access::Read, variable),
            Action::EarlierWrite(variable) => self.earlier(event, Access::Write, variable),
            Action::Acquire(lock) | Action::Woken(lock) => {
                self.acquire(event, lock, Mode::Exclusive);
            }
            Action::AcquireShared(lock) => self.acquire(event, lock, Mode::Shared),
            Action::Release(lock) | Action::Wait(lock) => {
                self.held_locks.release(event.thread, lock, Mode::Exclusive);
            }
            Action::ReleaseShared(lock) => {
                self.held_locks.release(event.thread, lock, Mode::Shared);
            }
            Action::ThreadEnd => self.held_locks.end(event.thread),
            // Eraser considers locks only.
            Action::VolatileRead(_)
            | Action::VolatileWrite(_)
            | Action::AtomicUpdate(_)
            | Action::AtomicAdd(_)
            | Action::AtomicSwap(_)
            | Action::Notify(_)
            | Action::NotifyAll(_)
            | Action::ThreadBegin
            | Action::Fork(_)
            | Action::Join(_)
            | Action::Submit(_)
            | Action::TaskBegin(_)
            | Action::TaskEnd(_)
            | Action::TaskJoin(_)
            | Action::Publish(_)
            | Action::Receive(_)
            | Action::BarrierArrive(_)
            | Action::BarrierPass(_)
            | Action::LatchDown(_)
            | Action::LatchPass(_)
            | Action::Begin
            | Action::End
            | Action::Escape(..)
            | Action::ClassInitialised(_)
            | Action::ClassUsed(_)
            | Action::Branch(_)
            | Action::OrderRelease(_)
            | Action::OrderAcquire(_)
            | Action::EarlierOrderRelease(_)
            | Action::OrderAcquireAll
            | Action::LibraryOrder
            | Action::Choice
            | Action::Untaken(_)
            | Action::UntakenEnd
            | Action::Rejoin
            | Action::WouldRead(_)
            | Action::WouldWrite(_)
            | Action::WouldAcquire(_)
            | Action::WouldAcquireShared(_)
            | Action::WouldRelease(_)
            | Action::WouldReleaseShared(_)
            | Action::Given(_)
            | Action::Tried(_)
            | Action::Holds(_)
            | Action::Blocked(_)
            | Action::BlockedByThread(_)
            | Action::Stalled(..)
            | Action::Hung
            | Action::Starved(_)
            | Action::Missed => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.races.findings(tables)
    }
}
