//! Accesses that nothing orders: rule `happens-before-race`.
//!
//! Implements the epochs of FastTrack ("FastTrack: Efficient and Precise Dynamic Race Detection",
//! Figures 2 and 3) with the happens-before relation of the Java memory model.
//!
//! Property: a race is reported on a variable iff the observed run has two accesses to it, one of them a
//! write, that are not ordered by synchronisation. After the first race on a variable others on it may
//! be missed. Says nothing of other runs.
//!
//! Deviations from the paper, with the reason:
//! 1. The time of a thread is its epoch in the stream, so that an access that is reported late
//!    ([`events::Action::EarlierRead`], [`events::Action::EarlierWrite`]) can be compared like any other. It
//!    must therefore be a new epoch after every operation that others can be ordered after: an access
//!    in the epoch of a release counts as made before it.
//! 2. Reads that are reported late are kept beside the others instead of replacing them: the order
//!    between them was not checked.
//! 3. Slots of threads that have ended are given to threads that begin after that end; beyond
//!    `MOST_THREAD_SLOTS` to any thread, as if it began after that end, which can hide races with threads that
//!    ended long ago. What others may still ask of such a thread is kept (`ended_threads.rs`).
//! 4. Variables and locks whose last operations are ordered before all threads are forgotten. Beyond
//!    [`Limits`] so are those that were not used for long, and all if that is not enough. What was forgotten
//!    counts as ordered before, which can hide races and cannot report false ones.
//! 5. An acquire does not join the clock of a release that the thread is ordered after already: it has
//!    that clock. This needs deviation 1.
//! 6. Where a run is observed inside the library ([`events::Action::LibraryOrder`]), order comes from there,
//!    and what models say of tasks, latches, barriers and atomics at calls is none.

mod accesses;
mod clock;
mod clock_history;
mod ended_threads;
mod sync_clocks;

use std::collections::BTreeMap;

use events::{Access, Action, Epoch, Event, Mode, ObjectId, SiteId, Tables, ThreadId, Variable};
use findings::{Evidence, Finding, Severity, ThreadAction, Witness};
use rustc_hash::FxHashMap;

use crate::operation_at::{ContextId, Contexts, OperationAt};
use crate::stacks::Stacks;
use crate::subject::{StableNames, Subject, ThreadNames, site_of};
use crate::table::{Key, Table};
use crate::timeline::{ThreadSlot, ThreadSlots, ThreadTime, Timeline};
use crate::verb::Verb;
use crate::{Checker, NeededAccesses, Needs, Registration};
use accesses::{Accesses, TimedAccess};
use clock::Clock;
use clock_history::ClockHistory;
use ended_threads::{EndedThread, EndedThreads};
use sync_clocks::{Barrier, ClockKey, SyncClocks};

const RULE: &str = "happens-before-race";

/// Its entry in the list of checkers.
pub const CHECKER: Registration = Registration {
    name: "happens-before",
    rules: &[RULE],
    on_by_default: true,
    needs: Needs {
        accesses: NeededAccesses::InOrder,
        nested_blocks: true,
        order: true,
        speculation: false,
    },
    looks_into_libraries: true,
    start: |_| Box::new(HappensBefore::new()),
};

/// Beyond this many threads, slots are reused although their threads may still be raced with.
const MOST_THREAD_SLOTS: usize = 4096;

/// Beyond this many pairs of places, races are only counted.
const MOST_PAIRS: usize = 10_000;

/// How much state is kept that could still matter.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Variables.
    pub variables: usize,
    /// Locks, volatile variables, tasks and the like.
    pub sync_objects: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { variables: 1 << 20, sync_objects: 1 << 17 }
    }
}

/// Whether forgetting what is old was not enough.
fn is_nearly_full(remembered: usize, limit: usize) -> bool {
    remembered > limit / 4 * 3
}

#[derive(Debug)]
struct Thread {
    id: ThreadId,
    timeline: Timeline,
    /// Its vector clock. The thread's own time is in `timeline`, and is copied here only before another
    /// clock joins this one.
    clock: Clock,
    /// What the clock was before.
    history: ClockHistory,
    /// Counts how often a join changed the clock.
    version: u64,
    /// For each block that is open, outermost first: the time since when, and the blocks that are open in it.
    open: Vec<(u64, ContextId)>,
}

impl Thread {
    fn new(id: ThreadId) -> Thread {
        Thread {
            id,
            timeline: Timeline::default(),
            clock: Clock::default(),
            history: ClockHistory::default(),
            version: 0,
            open: Vec::new(),
        }
    }

    /// The blocks that are open.
    fn context(&self) -> ContextId {
        self.open.last().map_or(ContextId::OUTSIDE, |(_, context)| *context)
    }

    /// The blocks that were open at an earlier time, as far as they still are.
    fn context_at(&self, time: u64) -> ContextId {
        let open = self.open.iter().rev().find(|(begin, _)| *begin <= time);
        open.map_or(ContextId::UNKNOWN, |(_, context)| *context)
    }

    /// Whether a thread time has happened before what the thread does now.
    #[inline]
    fn is_ordered_after(&self, slot: ThreadSlot, thread_time: ThreadTime) -> bool {
        if thread_time.slot() == slot {
            thread_time.time() <= self.timeline.now()
        } else {
            self.clock.covers(thread_time)
        }
    }

    fn join_clock(&mut self, other: &Clock) {
        if self.history.join(&mut self.clock, other, self.timeline.now()) {
            self.version += 1;
        }
    }

    /// The clock with the thread's own time.
    fn full_clock(&mut self, slot: ThreadSlot) -> &Clock {
        self.clock.set(slot, self.timeline.now());
        &self.clock
    }
}

/// The places of two accesses that race, in the order in which they were observed, and what was
/// accessed, objects left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    first: SiteId,
    second: SiteId,
}

/// Races at one pair of places. Of the first of them, who did what.
#[derive(Clone, Copy, Debug)]
struct Race {
    variable: Variable,
    first: (ThreadId, OperationAt),
    second: (ThreadId, OperationAt),
    count: u64,
}

/// The checker.
#[derive(Debug, Default)]
pub struct HappensBefore {
    slots: ThreadSlots,
    /// The thread that has each slot now.
    threads: Vec<Thread>,
    /// Threads that had a slot before.
    ended: EndedThreads,
    limits: Limits,
    variables: Table<Accesses>,
    sync_clocks: Table<SyncClocks>,
    barriers: Table<Barrier>,
    /// The clocks of synchronisation objects that were forgotten although a thread may still acquire them.
    forgotten: Clock,
    /// The times at which variables and sync clocks were last swept.
    variables_swept: Clock,
    sync_clocks_swept: Clock,
    /// The clocks of threads that are started and have done nothing yet.
    started: FxHashMap<ThreadId, Clock>,
    contexts: Contexts,
    /// Whether order is reported where library code makes it.
    observes_library: bool,
    /// Room for a clock that a thread had.
    past_clock: Clock,
    races: BTreeMap<Pair, Race>,
    count: u64,
    latest: Option<Variable>,
}

impl HappensBefore {
    /// A checker that has seen nothing yet.
    #[must_use]
    pub fn new() -> HappensBefore {
        HappensBefore::default()
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(limits: Limits) -> HappensBefore {
        HappensBefore { limits, ..HappensBefore::default() }
    }

    /// How many accesses raced with one before.
    #[must_use]
    pub fn races(&self) -> u64 {
        self.count
    }

    /// The variable of the latest race.
    #[must_use]
    pub fn latest_race(&self) -> Option<Variable> {
        self.latest
    }

    /// How many variables, and how many locks and the like, are remembered.
    #[must_use]
    pub fn remembered(&self) -> (usize, usize) {
        (self.variables.len(), self.sync_clocks.len() + self.barriers.len())
    }

    #[inline]
    fn slot(&mut self, thread: ThreadId) -> ThreadSlot {
        match self.slots.find(thread) {
            Some(slot) => slot,
            None => self.new_slot(thread),
        }
    }

    #[cold]
    fn new_slot(&mut self, thread: ThreadId) -> ThreadSlot {
        // A thread that was not started by another is new, or did something after its end.
        let started = self.started.remove(&thread);
        let mut clock = started.unwrap_or_else(|| self.ended.last_clock(thread).clone());
        let threads = &self.threads;
        let is_over = |slot: ThreadSlot| clock.get(slot) >= threads[slot.index()].timeline.now();
        let mut reused = self.slots.reuse(thread, is_over);
        if reused.is_none() && self.slots.len() >= MOST_THREAD_SLOTS {
            reused = self.slots.reuse(thread, |_| true);
            if let Some(slot) = reused {
                clock.join(self.threads[slot.index()].full_clock(slot));
            }
        }
        let slot = match reused {
            Some(slot) => {
                self.keep_ended(slot);
                let reused = &mut self.threads[slot.index()];
                reused.id = thread;
                reused.timeline.restart();
                slot
            }
            None => {
                self.threads.push(Thread::new(thread));
                self.slots.add(thread)
            }
        };
        let thread = &mut self.threads[slot.index()];
        thread.clock = clock;
        thread.version += 1;
        thread.open.clear();
        thread.timeline.advance(Epoch(0));
        if self.ended.is_full() {
            let known = self.common_clock();
            self.ended.make_room(&known);
        }
        slot
    }

    /// Keeps what may be asked of the thread that had a slot until now.
    fn keep_ended(&mut self, slot: ThreadSlot) {
        let thread = &mut self.threads[slot.index()];
        thread.full_clock(slot);
        let ended = EndedThread {
            slot,
            timeline: thread.timeline,
            clock: std::mem::take(&mut thread.clock),
            history: std::mem::take(&mut thread.history),
        };
        self.ended.add(thread.id, ended);
    }

    /// The time of an epoch of a thread, and the blocks that were open then as far as that is known; none if
    /// nothing is known of the thread, which then ended long ago.
    fn past_time(&mut self, thread: ThreadId, epoch: Epoch) -> Option<(ThreadTime, ContextId)> {
        let slot = match self.slots.find(thread) {
            Some(slot) => slot,
            None if self.started.contains_key(&thread) => self.new_slot(thread),
            None => {
                let time = self.ended.get_mut(thread)?.time_of(epoch);
                return Some((time, ContextId::UNKNOWN));
            }
        };
        let thread = &mut self.threads[slot.index()];
        let time = thread.timeline.time_of(epoch);
        Some((ThreadTime::new(slot, time), thread.context_at(time)))
    }

    /// Writes the clock that a thread had at one of its epochs, its own time included; for a thread that ended long ago,
    /// or whose epoch is long past, one that contains it.
    fn write_clock_at(&mut self, thread: ThreadId, epoch: Epoch, clock: &mut Clock) {
        let slot = match self.slots.find(thread) {
            Some(slot) => slot,
            None if self.started.contains_key(&thread) => self.new_slot(thread),
            None => return clock.assign(&self.ended.clock_at(thread, epoch)),
        };
        let thread = &mut self.threads[slot.index()];
        let time = thread.timeline.time_of(epoch);
        thread.history.write_clock_at(&thread.clock, time, clock);
        clock.set(slot, time);
    }

    /// The event happens now; the thread that does it.
    #[inline]
    fn advance(&mut self, event: &Event) -> ThreadSlot {
        let slot = self.slot(event.thread);
        self.threads[slot.index()].timeline.advance(event.epoch);
        slot
    }

    #[cold]
    fn race(&mut self, first: TimedAccess, second: TimedAccess, variable: Variable) {
        // A thread whose end was forgotten counts as one that ended before.
        let actor = |access: TimedAccess| {
            let now = self.slots.thread(access.thread_time.slot());
            self.ended
                .thread_at(access.thread_time, now)
                .map(|thread| (thread, access.operation_at))
        };
        let (Some(first_actor), Some(second_actor)) = (actor(first), actor(second)) else { return };
        self.count += 1;
        self.latest = Some(variable);
        let pair = Pair { first: first.operation_at.site, second: second.operation_at.site };
        if let Some(known) = self.races.get_mut(&pair) {
            known.count += 1;
        } else if self.races.len() < MOST_PAIRS {
            let race = Race { variable, first: first_actor, second: second_actor, count: 1 };
            self.races.insert(pair, race);
        }
    }

    fn access(&mut self, event: &Event, access: Access, variable: Variable) {
        let slot = self.advance(event);
        if self.variables.is_full() {
            self.sweep_variables();
        }
        let thread = &self.threads[slot.index()];
        let operation_at = OperationAt::new(Verb::of(event.action), event.site, thread.context());
        let timed_access =
            TimedAccess { thread_time: ThreadTime::new(slot, thread.timeline.now()), operation_at };
        let accesses = self.variables.entry(Key::from(variable));
        let is_ordered_after = |thread_time: ThreadTime| thread.is_ordered_after(slot, thread_time);
        let unordered = match access {
            Access::Read => accesses.read(timed_access, is_ordered_after),
            Access::Write => accesses.write(timed_access, is_ordered_after),
        };
        if let Some(first) = unordered {
            self.race(first, timed_access, variable);
        }
    }

    /// An access that happened before and is reported late. Whether it races was checked when it happened.
    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        let Some((thread_time, context)) = self.past_time(event.thread, event.epoch) else {
            return;
        };
        if self.variables.is_full() {
            self.sweep_variables();
        }
        let operation_at = OperationAt::new(Verb::of(event.action), event.site, context);
        let timed_access = TimedAccess { thread_time, operation_at };
        let accesses = self.variables.entry(Key::from(variable));
        match access {
            Access::Read => accesses.earlier_read(timed_access),
            Access::Write => accesses.earlier_write(timed_access),
        }
    }

    /// The time of an access that happens now, for checkers that judge accesses themselves and want the order alone.
    pub(crate) fn time_of(&mut self, event: &Event) -> ThreadTime {
        let slot = self.advance(event);
        ThreadTime::new(slot, self.threads[slot.index()].timeline.now())
    }

    /// The same for an access that is reported late; nothing if its thread ended long ago.
    pub(crate) fn past_time_of(&mut self, event: &Event) -> Option<ThreadTime> {
        self.past_time(event.thread, event.epoch).map(|(thread_time, _)| thread_time)
    }

    /// Whether a thread time has happened before what a thread does now.
    pub(crate) fn is_before_now(&mut self, thread_time: ThreadTime, thread: ThreadId) -> bool {
        let slot = self.slot(thread);
        self.threads[slot.index()].is_ordered_after(slot, thread_time)
    }

    fn receive(&mut self, event: &Event, key: ClockKey, mode: Mode) {
        let slot = self.advance(event);
        let thread = &mut self.threads[slot.index()];
        match self.sync_clocks.get(key.into()) {
            Some(sync_clocks) => sync_clocks.join_into(thread, slot, mode),
            None if self.forgotten.is_empty() => {}
            None => thread.join_clock(&self.forgotten),
        }
    }

    /// Joins the thread's clock into that of a synchronisation object.
    fn publish(&mut self, event: &Event, key: ClockKey) {
        let slot = self.advance(event);
        let sync_clocks = Self::sync_clocks(&mut self.sync_clocks, key, &self.forgotten);
        sync_clocks.add(&mut self.threads[slot.index()], slot);
        if self.sync_clocks.is_full() {
            self.sweep_sync_clocks();
        }
    }

    /// A release that happened before and is reported late: the clock is the one that its thread had then.
    fn earlier_release(&mut self, event: &Event, place: ObjectId) {
        let mut clock = std::mem::take(&mut self.past_clock);
        self.write_clock_at(event.thread, event.epoch, &mut clock);
        let key = ClockKey::of_place(place);
        Self::sync_clocks(&mut self.sync_clocks, key, &self.forgotten).add_clock(&clock);
        self.past_clock = clock;
        if self.sync_clocks.is_full() {
            self.sweep_sync_clocks();
        }
    }

    /// The thread comes after everything that happened so far.
    fn receive_from_all(&mut self, event: &Event) {
        let slot = self.advance(event);
        let now = self.now();
        self.threads[slot.index()].join_clock(&now);
    }

    fn release(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        let slot = self.advance(event);
        let sync_clocks =
            Self::sync_clocks(&mut self.sync_clocks, ClockKey::Lock(lock), &self.forgotten);
        let thread = &mut self.threads[slot.index()];
        match mode {
            // Who releases a monitor has acquired it. Of a lock that is an object of the program, calls of its methods and
            // its monitor are known by one number, and do not exclude each other.
            Mode::Exclusive => sync_clocks.add(thread, slot),
            Mode::Shared => sync_clocks.share(thread, slot),
        }
        if self.sync_clocks.is_full() {
            self.sweep_sync_clocks();
        }
    }

    /// The clocks of an object; new ones start with what was forgotten, because they may be among that.
    fn sync_clocks<'a>(
        sync_clocks: &'a mut Table<SyncClocks>,
        key: ClockKey,
        forgotten: &Clock,
    ) -> &'a mut SyncClocks {
        let sync_clocks = sync_clocks.entry(key.into());
        if !forgotten.is_empty() && sync_clocks.is_new() {
            sync_clocks.start_from(forgotten);
        }
        sync_clocks
    }

    fn fork(&mut self, event: &Event, child: ThreadId) {
        let slot = self.advance(event);
        let clock = self.threads[slot.index()].full_clock(slot).clone();
        match self.slots.find(child) {
            Some(child) => self.threads[child.index()].join_clock(&clock),
            None if self.ended.get_mut(child).is_some() => {}
            None => {
                self.started.insert(child, clock);
            }
        }
    }

    fn join(&mut self, event: &Event, child: ThreadId) {
        let slot = self.advance(event);
        // A thread that did nothing still has the clock of its start.
        if let Some(clock) = self.started.get(&child) {
            self.threads[slot.index()].join_clock(clock);
        } else if let Some(child) = self.slots.find(child) {
            if child != slot {
                let clock = self.threads[child.index()].full_clock(child).clone();
                self.threads[slot.index()].join_clock(&clock);
            }
        } else {
            self.threads[slot.index()].join_clock(self.ended.last_clock(child));
        }
    }

    fn arrive(&mut self, event: &Event, barrier: ObjectId) {
        let slot = self.advance(event);
        if self.barriers.is_full() {
            let known = self.common_clock();
            self.barriers.make_room(|barrier| barrier.is_needed(&known));
        }
        let barrier = self.barriers.entry(ClockKey::Published(barrier).into());
        barrier.arrive(slot, self.threads[slot.index()].full_clock(slot));
    }

    fn pass(&mut self, event: &Event, barrier: ObjectId) {
        let slot = self.advance(event);
        let barrier = self.barriers.entry(ClockKey::Published(barrier).into());
        self.threads[slot.index()].join_clock(barrier.pass(slot));
    }

    /// The minimum of the clocks of all threads that have not ended.
    fn common_clock(&mut self) -> Clock {
        let mut known: Option<Clock> = None;
        for (at, thread) in self.threads.iter_mut().enumerate() {
            if !thread.timeline.has_ended() {
                let full_clock = thread.full_clock(ThreadSlot(at as u32));
                match &mut known {
                    Some(known) => known.meet(full_clock),
                    None => known = Some(full_clock.clone()),
                }
            }
        }
        let mut known = known.unwrap_or_default();
        self.started.values().for_each(|clock| known.meet(clock));
        known
    }

    /// How far each thread has come.
    fn now(&self) -> Clock {
        let mut now = Clock::default();
        for (at, thread) in self.threads.iter().enumerate() {
            now.set(ThreadSlot(at as u32), thread.timeline.now());
        }
        now
    }

    #[cold]
    fn sweep_variables(&mut self) {
        let mut known = self.common_clock();
        self.variables.make_room(|accesses| accesses.prune(&known));
        if self.variables.len() > self.limits.variables {
            known.join(&self.variables_swept);
            self.variables.make_room(|accesses| accesses.prune(&known));
            if is_nearly_full(self.variables.len(), self.limits.variables) {
                self.variables.make_room(|_| false);
            }
        }
        self.variables_swept = self.now();
    }

    #[cold]
    fn sweep_sync_clocks(&mut self) {
        let known = self.common_clock();
        self.sync_clocks.make_room(|sync_clocks| !sync_clocks.is_covered_by(&known));
        if self.sync_clocks.len() > self.limits.sync_objects {
            let swept = std::mem::take(&mut self.sync_clocks_swept);
            self.forget_sync_clocks(|sync_clocks| sync_clocks.is_covered_by(&swept));
            if is_nearly_full(self.sync_clocks.len(), self.limits.sync_objects) {
                self.forget_sync_clocks(|_| true);
            }
        }
        self.sync_clocks_swept = self.now();
    }

    /// Forgets sync clocks, and keeps their maximum in `forgotten`.
    fn forget_sync_clocks(&mut self, is_old: impl Fn(&SyncClocks) -> bool) {
        let forgotten = &mut self.forgotten;
        self.sync_clocks.make_room(|sync_clocks| {
            let is_old = is_old(sync_clocks);
            if is_old {
                sync_clocks.add_to(forgotten);
            }
            !is_old
        });
    }

    fn finding(
        &self,
        race: &Race,
        tables: &Tables,
        stacks: &Stacks<'_>,
        names: &StableNames<'_>,
    ) -> Finding {
        let variable = Subject::Variable(race.variable);
        let threads = ThreadNames::new(tables, [race.first.0, race.second.0].into_iter());
        let thread_time = |role, (thread, operation_at): (ThreadId, OperationAt)| {
            let mut thread_time = findings::Step::at(role, site_of(tables, operation_at.site));
            thread_time.thread = Some(threads.name(thread));
            thread_time.action = Some(ThreadAction {
                verb: operation_at.verb().words().to_string(),
                subject: variable.name(tables, operation_at.site),
            });
            let context = self.contexts.innermost(operation_at.context());
            thread_time.stack = stacks.find(operation_at.site, thread, context, None);
            thread_time
        };
        let site = race.second.1.site;
        Finding {
            rule: RULE,
            evidence: Evidence::Observed,
            severity: Severity::High,
            blame: site_of(tables, site),
            subjects: BTreeMap::from([("variable", variable.name(tables, site))]),
            stable_subjects: BTreeMap::from([("variable", names.of(race.variable, site))]),
            witnesses: vec![Witness::new(
                CHECKER.name,
                vec![thread_time("first", race.first), thread_time("second", race.second)],
            )],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }
}

/// Whether models say of a call of the library that it orders, and code of the library makes that order.
fn is_made_by_library(action: Action) -> bool {
    match action {
        Action::VolatileRead(variable)
        | Action::VolatileWrite(variable)
        | Action::AtomicUpdate(variable)
        | Action::AtomicAdd(variable)
        | Action::AtomicSwap(variable) => {
            // Elements of arrays are not accessed like that: it is an entry of a collection.
            matches!(variable, Variable::Contents(_) | Variable::Element(..))
        }
        Action::Submit(_)
        | Action::TaskBegin(_)
        | Action::TaskEnd(_)
        | Action::TaskJoin(_)
        | Action::LatchDown(_)
        | Action::LatchPass(_)
        | Action::BarrierArrive(_)
        | Action::BarrierPass(_) => true,
        // What models publish and receive is what no code shows, or what users describe.
        Action::Publish(_)
        | Action::Receive(_)
        | Action::Read(_)
        | Action::Write(_)
        | Action::EarlierRead(_)
        | Action::EarlierWrite(_)
        | Action::Acquire(_)
        | Action::AcquireShared(_)
        | Action::Release(_)
        | Action::ReleaseShared(_)
        | Action::Wait(_)
        | Action::Woken(_)
        | Action::Notify(_)
        | Action::NotifyAll(_)
        | Action::ThreadBegin
        | Action::ThreadEnd
        | Action::Fork(_)
        | Action::Join(_)
        | Action::Begin
        | Action::End
        | Action::Escape(..)
        | Action::ClassInitialised(_)
        | Action::ClassUsed(_)
        | Action::Branch(_)
        | Action::Missed
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
        | Action::Starved(_) => false,
    }
}

impl Checker for HappensBefore {
    fn event(&mut self, event: &Event) {
        if self.observes_library && is_made_by_library(event.action) {
            self.advance(event);
            return;
        }
        match event.action {
            Action::LibraryOrder => self.observes_library = true,
            Action::Read(variable) => self.access(event, Access::Read, variable),
            Action::Write(variable) => self.access(event, Access::Write, variable),
            Action::EarlierRead(variable) => self.earlier(event, Access::Read, variable),
            Action::EarlierWrite(variable) => self.earlier(event, Access::Write, variable),
            Action::VolatileRead(variable) => {
                self.receive(event, ClockKey::Volatile(variable), Mode::Exclusive);
            }
            Action::VolatileWrite(variable) => {
                self.publish(event, ClockKey::Volatile(variable));
            }
            Action::AtomicUpdate(variable)
            | Action::AtomicAdd(variable)
            | Action::AtomicSwap(variable) => {
                self.receive(event, ClockKey::Volatile(variable), Mode::Exclusive);
                self.publish(event, ClockKey::Volatile(variable));
            }
            Action::Acquire(lock) => self.receive(event, ClockKey::Lock(lock), Mode::Exclusive),
            Action::AcquireShared(lock) => self.receive(event, ClockKey::Lock(lock), Mode::Shared),
            Action::Woken(lock) => self.receive(event, ClockKey::Lock(lock), Mode::Exclusive),
            Action::Release(lock) => self.release(event, lock, Mode::Exclusive),
            Action::ReleaseShared(lock) => self.release(event, lock, Mode::Shared),
            Action::Wait(lock) => self.release(event, lock, Mode::Exclusive),
            Action::ThreadBegin | Action::Notify(_) | Action::NotifyAll(_) => {
                self.advance(event);
            }
            Action::Begin => {
                let slot = self.advance(event);
                let thread = &mut self.threads[slot.index()];
                let context = self.contexts.enter(thread.context(), event.site);
                thread.open.push((thread.timeline.now(), context));
            }
            Action::End => {
                let slot = self.advance(event);
                self.threads[slot.index()].open.pop();
            }
            Action::ThreadEnd => {
                let slot = self.advance(event);
                self.threads[slot.index()].timeline.end();
                self.slots.end(slot);
            }
            Action::Fork(child) => self.fork(event, child),
            Action::Join(child) => self.join(event, child),
            Action::Submit(task) => self.publish(event, ClockKey::Submitted(task)),
            Action::TaskBegin(task) => {
                self.receive(event, ClockKey::Submitted(task), Mode::Exclusive);
            }
            Action::TaskEnd(task) => self.publish(event, ClockKey::Ended(task)),
            Action::TaskJoin(task) => self.receive(event, ClockKey::Ended(task), Mode::Exclusive),
            Action::Publish(object) => self.publish(event, ClockKey::Published(object)),
            Action::Receive(object) => {
                self.receive(event, ClockKey::Published(object), Mode::Exclusive);
            }
            Action::LatchDown(latch) => self.publish(event, ClockKey::Latch(latch)),
            Action::LatchPass(latch) => {
                self.receive(event, ClockKey::Latch(latch), Mode::Exclusive);
            }
            Action::BarrierArrive(barrier) => self.arrive(event, barrier),
            Action::BarrierPass(barrier) => self.pass(event, barrier),
            Action::ClassInitialised(class) => self.publish(event, ClockKey::Class(class)),
            Action::ClassUsed(class) => {
                self.receive(event, ClockKey::Class(class), Mode::Exclusive);
            }
            Action::OrderRelease(place) => self.publish(event, ClockKey::of_place(place)),
            Action::OrderAcquire(place) => {
                self.receive(event, ClockKey::of_place(place), Mode::Exclusive);
            }
            Action::EarlierOrderRelease(place) => self.earlier_release(event, place),
            Action::OrderAcquireAll => self.receive_from_all(event),
            // What would have happened orders nothing.
            Action::Escape(..)
            | Action::Branch(_)
            | Action::Missed
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
            | Action::Starved(_) => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        let stacks = Stacks::new(tables);
        let places =
            |race: &Race| [race.first, race.second].map(|(_, it)| (race.variable, it.site));
        let names = StableNames::new(tables, self.races.values().flat_map(places));
        self.races.values().map(|race| self.finding(race, tables, &stacks, &names)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u32, epoch: u64, action: Action) -> Event {
        Event {
            thread: ThreadId(thread),
            site: SiteId(0),
            epoch: Epoch(epoch),
            action,
            overlaps: 0,
        }
    }

    /// Threads that are started and joined one after another and meet at a lock, two at a time; each is asked for its
    /// clock at all its epochs, while it runs, when it has ended and when others have its slot.
    #[test]
    fn the_clock_of_an_epoch_is_known_later() {
        let mut checker = HappensBefore::new();
        let mut had: Vec<(ThreadId, Epoch, Clock)> = Vec::new();
        let lock = ObjectId(1);
        let mut epochs = 0;
        let mut happen = |checker: &mut HappensBefore, thread: u32, action: Action| {
            epochs += 1;
            checker.event(&event(thread, epochs, action));
            let slot = checker.slot(ThreadId(thread));
            let clock = checker.threads[slot.index()].full_clock(slot).clone();
            had.push((ThreadId(thread), Epoch(epochs), clock));
        };
        for round in 0..8 {
            let (one, other) = (2 * round + 1, 2 * round + 2);
            for child in [one, other] {
                happen(&mut checker, 0, Action::Fork(ThreadId(child)));
            }
            for thread in [one, other, one, other] {
                happen(&mut checker, thread, Action::Acquire(lock));
                happen(&mut checker, thread, Action::Release(lock));
            }
            happen(&mut checker, one, Action::ThreadEnd);
            happen(&mut checker, other, Action::ThreadEnd);
            // The other thread of a round is joined one round later, when it has lost its slot.
            happen(&mut checker, 0, Action::Join(ThreadId(one)));
            if round > 0 {
                happen(&mut checker, 0, Action::Join(ThreadId(other - 2)));
            }
        }
        assert!(checker.slots.len() < 8, "{}", checker.slots.len());
        for (thread, epoch, clock) in had {
            let mut known = Clock::default();
            checker.write_clock_at(thread, epoch, &mut known);
            assert!(
                known.covers_all(&clock) && clock.covers_all(&known),
                "{thread:?} {epoch:?}: {known:?} instead of {clock:?}"
            );
        }
    }
}
