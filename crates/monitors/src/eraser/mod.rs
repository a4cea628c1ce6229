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
//! happened to be taken.
//!
//! Deviations from the paper, with the reason:
//! 1. A variable is reported once, when its GuardSet becomes empty or, empty, begins to matter; with an access
//!    of another thread, if possible one that shares no lock with it. The paper names one access only.
//! 2. Volatile variables and atomics are not checked: they are meant to be used without locks.
//! 3. Accesses that are reported late ([`events::Action::EarlierRead`], [`events::Action::EarlierWrite`]) carry no locks, and refine nothing. While
//!    hooks report late, the variable is its thread's own.
//! 4. A table of variables that is full forgets those that were not used lately, which can miss
//!    warnings: nothing says when an object is gone.

mod report;

use events::{Access, Action, Event, Mode, ObjectId, SiteId, Tables, ThreadId, Variable};
use findings::Finding;

use crate::locksets::{Guard, Held, Holders, SetId, Sets, Table, Use};
use crate::{Monitor, Needs, Registration};
use report::{Mark, Race, Races};

const RULE: &str = "lockset-race";

/// Its entry in the list of monitors.
pub const MONITOR: Registration = Registration {
    name: "eraser",
    rules: &[RULE],
    on_by_default: false,
    needs: Needs { locksets: true },
    start: || Box::new(Eraser::default()),
};

/// An access that may become the first of a pair.
#[derive(Clone, Copy, Debug)]
struct Trace {
    access: Access,
    thread: ThreadId,
    site: SiteId,
    /// The locks held, where they were taken included; [`SetId::ALL`] when that is not known.
    held: SetId,
}

/// The last access, and the last one of another thread.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    last: Option<Trace>,
    of_another: Option<Trace>,
}

impl Recent {
    fn note(&mut self, trace: Trace) {
        if self.last.is_some_and(|last| last.thread != trace.thread) {
            self.of_another = self.last;
        }
        self.last = Some(trace);
    }

    /// The latest access of a thread other than this one.
    fn not_of(&self, thread: ThreadId) -> Option<Trace> {
        self.last.filter(|last| last.thread != thread).or(self.of_another)
    }

    fn set_ids(&mut self) -> impl Iterator<Item = &mut SetId> {
        [&mut self.last, &mut self.of_another].into_iter().flatten().map(|trace| &mut trace.held)
    }
}

/// What is known of a variable.
#[derive(Debug)]
struct Known {
    guard: Guard,
    reads: Recent,
    writes: Recent,
    is_reported: bool,
}

impl Known {
    fn new(thread: ThreadId) -> Known {
        Known {
            guard: Guard::new(thread),
            reads: Recent::default(),
            writes: Recent::default(),
            is_reported: false,
        }
    }

    fn note(&mut self, trace: Trace) {
        match trace.access {
            Access::Read => self.reads.note(trace),
            Access::Write => self.writes.note(trace),
        }
    }
}

/// The monitor.
#[derive(Debug, Default)]
pub struct Eraser {
    holders: Holders,
    sets: Sets<ObjectId>,
    /// What was held, with the places where it was taken.
    held: Sets<Held>,
    variables: Table<Variable, Known>,
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
        let held = self.holders.of(event.thread);
        let known = self.variables.entry(variable, || Known::new(event.thread));
        if known.is_reported {
            return;
        }
        let how = known.guard.access(event.thread, access, held, &mut self.sets);
        let trace = Trace {
            access,
            thread: event.thread,
            site: event.site,
            held: match how {
                // Hooks report these late, without their locks.
                Use::Own => SetId::ALL,
                Use::Guarded | Use::GuardedFromWrites | Use::Unguarded => {
                    self.held.intern(held.locks())
                }
            },
        };
        match how {
            Use::Own | Use::Guarded => known.note(trace),
            Use::GuardedFromWrites | Use::Unguarded => {
                known.is_reported = true;
                self.report(variable, trace);
            }
        }
    }

    fn report(&mut self, variable: Variable, second: Trace) {
        let known = self.variables.entry(variable, || Known::new(second.thread));
        let (reads, writes) = (known.reads, known.writes);
        let conflicting = match second.access {
            Access::Read => [writes.not_of(second.thread), None],
            Access::Write => [writes.not_of(second.thread), reads.not_of(second.thread)],
        };
        let conflicting = || conflicting.into_iter().flatten();
        let locks = |trace: Trace| self.held.get(trace.held).iter().map(|held| held.lock);
        let is_disjoint = |first: &Trace| {
            first.held != SetId::ALL
                && !locks(*first).any(|lock| locks(second).any(|it| it == lock))
        };
        let first = conflicting()
            .find(is_disjoint)
            .or_else(|| conflicting().find(|first| first.held != SetId::ALL))
            .or_else(|| conflicting().next())
            .or_else(|| reads.not_of(second.thread));
        let mark = |trace: Trace| Mark {
            access: trace.access,
            thread: trace.thread,
            site: trace.site,
            held: self.held.get(trace.held).to_vec(),
        };
        let race = Race { variable, first: first.map(mark), second: mark(second) };
        self.races.add(race);
    }

    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        let known = self.variables.entry(variable, || Known::new(event.thread));
        known.guard.earlier(event.thread, access);
        if known.guard.is_exclusive() {
            let trace = Trace { access, thread: event.thread, site: event.site, held: SetId::ALL };
            known.note(trace);
        }
    }

    fn acquire(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.holders.acquire(event.thread, Held { lock, mode, site: event.site });
    }

    /// Forgets the sets that nothing refers to any more.
    fn sweep(&mut self) {
        if self.sets.is_crowded() {
            let guards = self.variables.values_mut().map(|known| &mut known.guard);
            self.sets.sweep(guards.flat_map(Guard::set_ids).chain(self.holders.set_ids()));
        }
        if self.held.is_crowded() {
            let recent =
                self.variables.values_mut().flat_map(|known| [&mut known.reads, &mut known.writes]);
            self.held.sweep(recent.flat_map(Recent::set_ids));
        }
    }
}

impl Monitor for Eraser {
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
                self.holders.release(event.thread, lock, Mode::Exclusive);
            }
            Action::ReleaseShared(lock) => {
                self.holders.release(event.thread, lock, Mode::Shared);
            }
            Action::ThreadEnd => self.holders.end(event.thread),
            // Eraser knows of locks and of nothing else.
            Action::VolatileRead(_)
            | Action::VolatileWrite(_)
            | Action::AtomicUpdate(_)
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
            | Action::Branch(_) => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.races.findings(tables)
    }
}
