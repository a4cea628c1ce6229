//! Methods that were at work on an object when another thread used it: rule `object-inconsistency`.
//!
//! Implements section 7.2 of von Praun's dissertation: while a method of an object is between its first and its last
//! access to the object, no other thread may access it, unless all only read.
//!
//! Property: a violation is reported iff the observed run has three accesses to one object, the first and the
//! third by one thread in one unit of work and the second by another thread in between, one of them a write. A unit of
//! work is a call of a method of the object's class, with what it calls of the same class; where that takes a
//! lock, what is done under the lock is a unit of its own.
//!
//! Deviations from the paper, with the reason:
//! 1. The paper marks an object from the call to the return of a method that may write it. Here a unit is what it did,
//!    from its first access to its last: a method that only reads in this run is no writer, whatever its
//!    overrides may do, and one whose accesses all lie in synchronized methods that it calls is not at work in between.
//! 2. Every lock ends the unit around it, not that of the object alone. As in the paper, `wait` ends a unit;
//!    so does everything else that a block is cut at (`cuts.rs`), such as starting a thread as the last act of a constructor.
//! 3. Which accesses go through `this` is not known; those count that the code of a class makes to fields that it
//!    names as its own. So a method is at work, too, on other objects of its class.
//! 4. A finding is graded by what the overlap did (`grade`); overlaps of different fields are graded down.
//! 5. An access that is reported late can be the first of the three, but not the second: it is not known after what it
//!    came. Hooks report no repeated access that nothing conflicted with, so that overlaps of different
//!    fields can be missed.
//! 6. Of an object the last [`MOST_REMEMBERED`] accesses are remembered, and a full table forgets objects that
//!    were not used lately, which can miss violations.

mod report;

use std::collections::VecDeque;

use events::{Access, Action, Epoch, Event, ObjectId, SiteId, Tables, ThreadId, Variable};
use findings::{Finding, Severity};
use rustc_hash::FxHashMap;

use crate::cuts::CutBlocks;
use crate::happens_before::HappensBefore;
use crate::locksets::BoundedTable;
use crate::self_accesses::{FieldClasses, Places};
use crate::timeline::ThreadTime;
use crate::{Checker, NeededAccesses, Needs, Registration};
use report::{Overlap, Overlaps};

const RULE: &str = "object-inconsistency";

/// Its entry in the list of checkers.
pub const CHECKER: Registration = Registration {
    name: "object-consistency",
    rules: &[RULE],
    on_by_default: false,
    needs: Needs {
        accesses: NeededAccesses::InOrder,
        nested_blocks: true,
        order: true,
        speculation: false,
    },
    looks_into_libraries: true,
    start: |_| Box::new(CutBlocks::new(ObjectConsistency::default())),
};

/// How many accesses of an object are remembered.
pub const MOST_REMEMBERED: usize = 24;

/// When something began: by the epochs of its thread where there are any, else by its place in the stream. Blocks are
/// reported later than what was done in them and is reported late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    epoch: Epoch,
    number: u64,
}

impl Moment {
    /// Whether something of the same thread did not happen before this.
    fn is_not_after(self, other: Moment) -> bool {
        if self.epoch == Epoch(0) || other.epoch == Epoch(0) {
            self.number <= other.number
        } else {
            self.epoch <= other.epoch
        }
    }
}

/// A block that is open.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    site: SiteId,
    class: u32,
    begin: Moment,
}

/// What a thread is at.
#[derive(Debug, Default)]
struct Thread {
    /// Outermost first.
    blocks: Vec<OpenBlock>,
    /// The locks that it holds, outermost first, with when it took them.
    locks: Vec<(ObjectId, Moment)>,
}

/// A unit of work.
#[derive(Clone, Copy, Debug)]
struct Unit {
    block: SiteId,
    begin: Moment,
}

impl Thread {
    /// The unit that an access by code of a class belongs to.
    fn unit(&self, class: u32) -> Option<Unit> {
        let same = self.blocks.iter().rev().take_while(|block| block.class == class);
        let outermost = same.last()?;
        // What is under a lock that was taken since is a unit of its own.
        let lock = self.locks.iter().find(|(_, taken)| taken.number > outermost.begin.number);
        Some(Unit {
            block: outermost.site,
            begin: lock.map_or(outermost.begin, |(_, taken)| *taken),
        })
    }
}

/// An access to an object.
#[derive(Clone, Debug)]
struct Remembered {
    access: Access,
    variable: Variable,
    thread: ThreadId,
    site: SiteId,
    at: Moment,
    thread_time: ThreadTime,
    /// Whether code of the object's class made it.
    is_own: bool,
    /// Whether it is known after what it came: it was not reported late.
    is_in_place: bool,
    /// The accesses before it, by their place in the stream, that it conflicts with and that nothing orders before it.
    races_with: Vec<u64>,
}

impl Remembered {
    fn conflicts_with(&self, other: &Remembered) -> bool {
        self.variable == other.variable && self.is_write_with(other)
    }

    fn is_write_with(&self, other: &Remembered) -> bool {
        self.access == Access::Write || other.access == Access::Write
    }
}

/// What has a state of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Object {
    Instance(ObjectId),
    StaticPart(u32),
}

/// The checker.
#[derive(Debug, Default)]
pub struct ObjectConsistency {
    threads: FxHashMap<ThreadId, Thread>,
    /// The oldest access first.
    objects: BoundedTable<Object, VecDeque<Remembered>>,
    order: HappensBefore,
    classes: FieldClasses,
    places: Places,
    overlaps: Overlaps,
    /// How many events there were.
    number: u64,
}

/// How bad an overlap is. `High`: the three accesses are to one field, no order of the unit and the second access gives
/// what they did, and something does not order two of them. `Medium`: only one of that. `Low`: neither.
fn grade(first: &Remembered, between: &Remembered, last: &Remembered) -> Severity {
    use Access::{Read, Write};
    let is_one_field = first.variable == between.variable && between.variable == last.variable;
    let is_split = is_one_field
        && matches!(
            (first.access, between.access, last.access),
            (_, Write, Read) | (Read, Write, Write) | (Write, Read, Write)
        );
    let races = between.races_with.contains(&first.at.number)
        || last.races_with.contains(&between.at.number);
    match (is_split, races) {
        (true, true) => Severity::High,
        (true, false) | (false, true) => Severity::Medium,
        (false, false) => Severity::Low,
    }
}

impl ObjectConsistency {
    /// The overlaps that were reported, as the places of their three accesses.
    pub fn overlaps(&self) -> impl Iterator<Item = ([SiteId; 3], Severity)> {
        self.overlaps.places()
    }

    fn object_of(&self, variable: Variable) -> Option<Object> {
        match variable {
            Variable::Field(object, _) => Some(Object::Instance(object)),
            Variable::Static(field) => self.classes.class_of(field).map(Object::StaticPart),
            // Arrays have no methods, and those of collections are single accesses.
            Variable::Element(..) | Variable::Contents(_) => None,
        }
    }

    fn moment(&self, event: &Event) -> Moment {
        Moment { epoch: event.epoch, number: self.number }
    }

    fn access(&mut self, event: &Event, access: Access, variable: Variable) {
        let thread_time = self.order.time_of(event);
        let Some(object) = self.object_of(variable) else { return };
        let place = self.places.of(event.site);
        let mut this_access = Remembered {
            access,
            variable,
            thread: event.thread,
            site: event.site,
            at: self.moment(event),
            thread_time,
            is_own: place.is_of_own_class,
            is_in_place: true,
            races_with: Vec::new(),
        };
        let accesses = self.objects.entry(object, VecDeque::new);
        let others = accesses.iter().any(|it| it.thread != event.thread);
        let order = &mut self.order;
        if others {
            let mut is_unordered = |it: &Remembered| {
                it.thread != event.thread
                    && it.conflicts_with(&this_access)
                    && !order.is_before_now(it.thread_time, event.thread)
            };
            let unordered = accesses.iter().filter(|it| is_unordered(it));
            this_access.races_with = unordered.map(|it| it.at.number).collect();
        }
        let thread = self.threads.entry(event.thread).or_default();
        if others
            && place.is_of_own_class
            && let Some(unit) = thread.unit(place.class)
        {
            for (at, between) in accesses.iter().enumerate() {
                if between.thread == event.thread || !between.is_in_place {
                    continue;
                }
                let before = accesses.iter().take(at).filter(|first| {
                    first.thread == event.thread
                        && first.is_own
                        && unit.begin.is_not_after(first.at)
                });
                for first in before {
                    let has_write =
                        first.is_write_with(between) || this_access.access == Access::Write;
                    if has_write {
                        let severity = grade(first, between, &this_access);
                        self.overlaps.add(Overlap::new(
                            unit.block,
                            [first, between, &this_access],
                            severity,
                        ));
                    }
                }
            }
        }
        remember(accesses, this_access);
    }

    /// An access that happened before and is reported late.
    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        let Some(thread_time) = self.order.past_time_of(event) else { return };
        let Some(object) = self.object_of(variable) else { return };
        let this_access = Remembered {
            access,
            variable,
            thread: event.thread,
            site: event.site,
            at: self.moment(event),
            thread_time,
            is_own: self.places.of(event.site).is_of_own_class,
            is_in_place: false,
            races_with: Vec::new(),
        };
        remember(self.objects.entry(object, VecDeque::new), this_access);
    }

    fn take(&mut self, event: &Event, lock: ObjectId) {
        let taken = self.moment(event);
        self.threads.entry(event.thread).or_default().locks.push((lock, taken));
    }

    fn give_back(&mut self, event: &Event, lock: ObjectId) {
        let locks = &mut self.threads.entry(event.thread).or_default().locks;
        if let Some(at) = locks.iter().rposition(|(held, _)| *held == lock) {
            locks.remove(at);
        }
    }
}

/// Adds an access to those of an object, unless it repeats the last one.
fn remember(accesses: &mut VecDeque<Remembered>, this_access: Remembered) {
    let is_same = |it: &Remembered| {
        (it.thread, it.variable, it.access, it.site, it.at.epoch)
            == (
                this_access.thread,
                this_access.variable,
                this_access.access,
                this_access.site,
                this_access.at.epoch,
            )
            && it.is_in_place
            && it.at.epoch != Epoch(0)
    };
    if accesses.back().is_some_and(is_same) {
        return;
    }
    if accesses.len() == MOST_REMEMBERED {
        accesses.pop_front();
    }
    accesses.push_back(this_access);
}

impl Checker for ObjectConsistency {
    fn learn(&mut self, tables: &Tables) {
        self.classes.learn(tables);
        self.places.learn(tables);
    }

    fn event(&mut self, event: &Event) {
        self.number += 1;
        match event.action {
            Action::Read(variable) => return self.access(event, Access::Read, variable),
            Action::Write(variable) => return self.access(event, Access::Write, variable),
            Action::EarlierRead(variable) => return self.earlier(event, Access::Read, variable),
            Action::EarlierWrite(variable) => return self.earlier(event, Access::Write, variable),
            Action::Begin => {
                let class = self.places.of(event.site).class;
                let block = OpenBlock { site: event.site, class, begin: self.moment(event) };
                self.threads.entry(event.thread).or_default().blocks.push(block);
            }
            Action::End => {
                self.threads.entry(event.thread).or_default().blocks.pop();
            }
            Action::ThreadEnd => {
                self.threads.remove(&event.thread);
            }
            Action::Acquire(lock) | Action::Woken(lock) | Action::AcquireShared(lock) => {
                self.take(event, lock);
            }
            Action::Release(lock) | Action::Wait(lock) | Action::ReleaseShared(lock) => {
                self.give_back(event, lock);
            }
            // The rest is order, or cuts blocks.
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
        self.overlaps.findings(tables)
    }
}
