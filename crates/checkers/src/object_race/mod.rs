//! Objects that no lock guards: rule `object-race`.
//!
//! Implements sections 7.1.1 to 7.1.3 of von Praun's dissertation: an ownership state and one set of locks for each
//! object, where [`crate::eraser`] has one for each variable. All fields of an object are expected to have the same guard.
//!
//! Property, by the criterion [`crate::ObjectRaceCriterion::Lockset`]: an object is reported iff, since a second thread
//! first used it, it was written, it was used by a third thread or again by the first, and no one lock was held at
//! every access: at writes exclusively, at reads in any mode. By [`crate::ObjectRaceCriterion::Hybrid`], two accesses
//! of different threads, one of them a write, are also not ordered by anything (7.1.7); of the accesses before,
//! the last ones of [`MOST_REMEMBERED`] are compared. Neither sound nor complete.
//!
//! Deviations from the paper, with the reason:
//! 1. Figure 7.4 has `o.w = o.w ∧ is_write(e)`, which can never become true; it is `∨` here, and also for the access
//!    that makes the second thread the owner: Figure 7.1 leads it to *handoff modified*.
//! 2. What a thread does is what it did, access by access. The paper judges calls by what the method may do, and so
//!    reports readers as writers.
//! 3. Two accesses of one field that share no lock are what the finding shows; if there are only such of different
//!    fields, it is graded down, because each field may have its own guard. An object that was graded
//!    down is reported again when there are two of one field.
//! 4. Any lock counts, not monitors alone, and in its mode.
//! 5. Accesses that are reported late ([`events::Action::EarlierRead`], [`events::Action::EarlierWrite`]) carry no locks,
//!    and say no more than who used the object first: hooks report late while one thread has used the variable. So a field
//!    that one thread alone uses says nothing about the guard of the others.
//! 6. A full table forgets objects that were not used lately, which can miss warnings: no event says when an object is
//!    collected.

mod report;

use events::{Access, Action, Event, FieldId, Mode, ObjectId, SiteId, Tables, ThreadId, Variable};
use findings::{Finding, Severity};

use crate::happens_before::HappensBefore;
use crate::locksets::{Acquisition, BoundedTable, HeldLocksByThread, ReportedAccess, SetId, Sets};
use crate::self_accesses::FieldClasses;
use crate::timeline::ThreadTime;
use crate::{Checker, NeededAccesses, Needs, ObjectRaceCriterion, Registration};
use report::{Race, Races};

const RULE: &str = "object-race";

/// Its entry in the list of checkers.
pub const CHECKER: Registration = Registration {
    name: "object-race",
    rules: &[RULE],
    on_by_default: false,
    needs: Needs {
        accesses: NeededAccesses::All,
        nested_blocks: true,
        order: true,
        speculation: false,
    },
    looks_into_libraries: true,
    start: |settings| Box::new(ObjectRace::new(settings.object_race)),
};

/// Of an object, the last accesses of each thread to each field are remembered, up to so many.
pub const MOST_REMEMBERED: usize = 32;

/// What has one ownership state and one set of locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Object {
    /// An object of the run: an instance, an array, a collection.
    Instance(ObjectId),
    /// The static fields of a class.
    StaticPart(u32),
    /// A static field of a class that is not known.
    StaticField(FieldId),
}

/// Who uses an object (Figure 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ownership {
    /// The thread that used it first.
    Owned(ThreadId),
    /// One other thread since then.
    HandedOff(ThreadId),
    /// More than that.
    Shared,
}

/// The last access of a thread to a variable of an object, in one way.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    access: Access,
    variable: Variable,
    thread: ThreadId,
    site: SiteId,
    thread_time: ThreadTime,
    /// The locks held, with the sites where they were acquired; [`SetId::ALL`] if not known.
    held: SetId,
}

#[derive(Debug)]
struct ObjectState {
    ownership: Ownership,
    /// Whether anybody wrote it since a second thread used it.
    is_modified: bool,
    /// The locks held at every access since then, at writes exclusively.
    guards: SetId,
    /// The oldest first.
    accesses: Vec<Remembered>,
    /// How it was reported.
    reported: Option<Severity>,
}

impl ObjectState {
    fn new(owner: ThreadId) -> ObjectState {
        ObjectState {
            ownership: Ownership::Owned(owner),
            is_modified: false,
            guards: SetId::ALL,
            accesses: Vec::new(),
            reported: None,
        }
    }

    /// The prologue of Figure 7.4. Whether the thread is the first owner, whose locks do not count.
    fn advance(&mut self, thread: ThreadId, access: Access) -> bool {
        match self.ownership {
            Ownership::Owned(owner) if owner == thread => return true,
            Ownership::Owned(_) => self.ownership = Ownership::HandedOff(thread),
            Ownership::HandedOff(owner) if owner == thread => {}
            Ownership::HandedOff(_) | Ownership::Shared => self.ownership = Ownership::Shared,
        }
        self.is_modified |= access == Access::Write;
        false
    }

    /// Whether the discipline is violated: the test of the epilogue.
    fn is_unguarded(&self) -> bool {
        self.ownership == Ownership::Shared && self.is_modified && self.guards == SetId::EMPTY
    }

    fn remember(&mut self, this_access: Remembered) {
        let is_same = |it: &Remembered| {
            (it.thread, it.variable, it.access)
                == (this_access.thread, this_access.variable, this_access.access)
        };
        if let Some(known) = self.accesses.iter().position(is_same) {
            self.accesses.remove(known);
        } else if self.accesses.len() == MOST_REMEMBERED {
            self.accesses.remove(0);
        }
        self.accesses.push(this_access);
    }
}

/// How many objects of a run reached each state; each state includes those after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReachedStates {
    /// Were used by any thread that was reported.
    pub owned: u64,
    /// Were used by a second thread.
    pub handed_off: u64,
    /// Were used by more than one thread after the first owner.
    pub shared: u64,
    /// Were written, too, since the second thread came.
    pub shared_modified: u64,
    /// Were reported.
    pub conflict: u64,
}

/// The checker.
#[derive(Debug, Default)]
pub struct ObjectRace {
    criterion: ObjectRaceCriterion,
    held_locks: HeldLocksByThread,
    sets: Sets<ObjectId>,
    /// Sets of held locks, with the sites where they were acquired.
    held: Sets<Acquisition>,
    objects: BoundedTable<Object, ObjectState>,
    order: HappensBefore,
    classes: FieldClasses,
    reached: ReachedStates,
    races: Races,
}

impl ObjectRace {
    /// A checker that has seen nothing yet.
    #[must_use]
    pub fn new(criterion: ObjectRaceCriterion) -> ObjectRace {
        ObjectRace { criterion, ..ObjectRace::default() }
    }

    /// How the object of a variable was reported, if it was.
    #[must_use]
    pub fn verdict_on(&self, variable: Variable) -> Option<Severity> {
        self.objects.get(&self.object_of(variable)).and_then(|known| known.reported)
    }

    /// How many objects reached each state.
    #[must_use]
    pub fn reached(&self) -> ReachedStates {
        self.reached
    }

    fn object_of(&self, variable: Variable) -> Object {
        match variable {
            Variable::Field(object, _)
            | Variable::Element(object, _)
            | Variable::Contents(object) => Object::Instance(object),
            Variable::Static(field) => match self.classes.class_of(field) {
                Some(class) => Object::StaticPart(class),
                None => Object::StaticField(field),
            },
        }
    }

    fn access(&mut self, event: &Event, access: Access, variable: Variable) {
        self.sweep();
        let thread_time = self.order.time_of(event);
        let held = self.held_locks.of(event.thread);
        let (all, exclusive) = held.sets(&mut self.sets);
        let held = self.held.intern(held.locks());
        let this_access = Remembered {
            access,
            variable,
            thread: event.thread,
            site: event.site,
            thread_time,
            held,
        };
        let object = self.object_of(variable);
        let known = state(&mut self.objects, &mut self.reached, object, event.thread);
        if !advance(known, &mut self.reached, event.thread, access) {
            let guards = match access {
                Access::Read => all,
                Access::Write => exclusive,
            };
            known.guards = self.sets.intersect(known.guards, guards);
            if known.is_unguarded() && known.reported < Some(Severity::Medium) {
                self.judge(object, this_access);
            }
        }
        state(&mut self.objects, &mut self.reached, object, event.thread).remember(this_access);
    }

    /// Looks for an access of another thread that conflicts with this one and shares no lock with it.
    fn judge(&mut self, object: Object, second: Remembered) {
        let ObjectRace { criterion, order, objects, held, .. } = self;
        let known = objects.entry(object, || ObjectState::new(second.thread));
        // A lock that both hold in shared mode excludes neither.
        let share_lock = |first: &Remembered| {
            let mut mine = held.get(first.held).iter();
            mine.any(|held_by_first| {
                held.get(second.held).iter().any(|held_by_second| {
                    held_by_first.lock == held_by_second.lock
                        && (held_by_first.mode, held_by_second.mode) != (Mode::Shared, Mode::Shared)
                })
            })
        };
        let mut is_conflict = |first: &Remembered| {
            first.thread != second.thread
                && (first.access == Access::Write || second.access == Access::Write)
                && match criterion {
                    // Of the first owner the locks are not known, and do not count.
                    ObjectRaceCriterion::Lockset => first.held != SetId::ALL && !share_lock(first),
                    ObjectRaceCriterion::Hybrid => {
                        !order.is_before_now(first.thread_time, second.thread)
                    }
                }
        };
        let conflicts: Vec<Remembered> =
            known.accesses.iter().rev().filter(|first| is_conflict(first)).copied().collect();
        let of_one_field = conflicts.iter().find(|first| first.variable == second.variable);
        let severity = if of_one_field.is_some() { Severity::Medium } else { Severity::Low };
        let Some(first) = of_one_field.or(conflicts.first()) else { return };
        if known.reported >= Some(severity) {
            return;
        }
        self.reached.conflict += u64::from(known.reported.is_none());
        known.reported = Some(severity);
        let reported = |it: &Remembered| ReportedAccess {
            access: it.access,
            thread: it.thread,
            site: it.site,
            held: held.get(it.held).to_vec(),
        };
        self.races.add(Race {
            first: (first.variable, reported(first)),
            second: (second.variable, reported(&second)),
            severity,
        });
    }

    /// An access that happened before and is reported late.
    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        let Some(thread_time) = self.order.past_time_of(event) else { return };
        let object = self.object_of(variable);
        let known = state(&mut self.objects, &mut self.reached, object, event.thread);
        known.remember(Remembered {
            access,
            variable,
            thread: event.thread,
            site: event.site,
            thread_time,
            held: SetId::ALL,
        });
    }

    fn acquire(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.held_locks.acquire(event.thread, Acquisition { lock, mode, site: event.site });
    }

    /// Forgets the sets that nothing refers to any more.
    fn sweep(&mut self) {
        if self.sets.needs_sweep() {
            let guards = self.objects.values_mut().map(|known| &mut known.guards);
            self.sets.sweep(guards.chain(self.held_locks.set_ids()));
        }
        if self.held.needs_sweep() {
            let accesses = self.objects.values_mut().flat_map(|known| &mut known.accesses);
            self.held.sweep(accesses.map(|it| &mut it.held));
        }
    }
}

/// The state of an object, new if it was not used before.
fn state<'a>(
    objects: &'a mut BoundedTable<Object, ObjectState>,
    reached: &mut ReachedStates,
    object: Object,
    thread: ThreadId,
) -> &'a mut ObjectState {
    objects.entry(object, || {
        reached.owned += 1;
        ObjectState::new(thread)
    })
}

/// Advances the ownership of an object, and counts the states that it reaches.
fn advance(
    known: &mut ObjectState,
    reached: &mut ReachedStates,
    thread: ThreadId,
    access: Access,
) -> bool {
    let before = (known.ownership, known.is_modified);
    let is_first_owner = known.advance(thread, access);
    let is_shared = |ownership| ownership == Ownership::Shared;
    let (was_shared, is_shared) = (is_shared(before.0), is_shared(known.ownership));
    reached.handed_off += u64::from(matches!(before.0, Ownership::Owned(_)) && !is_first_owner);
    reached.shared += u64::from(!was_shared && is_shared);
    reached.shared_modified +=
        u64::from(is_shared && known.is_modified && !(was_shared && before.1));
    is_first_owner
}

impl Checker for ObjectRace {
    fn learn(&mut self, tables: &Tables) {
        self.classes.learn(tables);
    }

    fn event(&mut self, event: &Event) {
        match event.action {
            Action::Read(variable) => return self.access(event, Access::Read, variable),
            Action::Write(variable) => return self.access(event, Access::Write, variable),
            Action::EarlierRead(variable) => return self.earlier(event, Access::Read, variable),
            Action::EarlierWrite(variable) => return self.earlier(event, Access::Write, variable),
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
            // The rest is order.
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
        self.order.event(event);
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.races.findings(tables)
    }
}
