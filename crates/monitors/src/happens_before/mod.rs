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
//!    ([`events::Action::EarlierRead`], [`events::Action::EarlierWrite`]) can be compared like any other, and no past clocks are kept. It
//!    must therefore be a new epoch after every operation that others can come to know of: an access in
//!    the epoch of a release counts as made before it.
//! 2. Reads that are reported late are kept beside the others instead of replacing them: whether they
//!    come after them was not looked at.
//! 3. Lanes of threads that have ended are given to threads that begin after that end; beyond
//!    `MOST_LANES` to any thread, as if it began after that end, which can hide races with threads that
//!    ended long ago.
//! 4. Variables and locks that all threads agree about are forgotten. Beyond [`Limits`] so are those that
//!    were not used for long, and all if that is not enough; what was forgotten counts as done before, which can hide races and cannot
//!    make any.
//! 5. What is passed on is not looked at if the thread that passed it on has nothing new to say: who knows
//!    the step at which it was passed on knows all that was known there. This needs deviation 1.

mod accesses;
mod clock;
mod relay;

use std::collections::BTreeMap;

use events::{Access, Action, Epoch, Event, Mode, ObjectId, SiteId, Tables, ThreadId, Variable};
use findings::{Does, Evidence, Finding, Severity, Witness};
use rustc_hash::FxHashMap;

use crate::doing::{ContextId, Contexts, Doing};
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, place};
use crate::table::{Key, Table};
use crate::timeline::{Lane, Lanes, Step, Timeline};
use crate::verb::Verb;
use crate::{Monitor, Needs, Registration};
use accesses::{Accesses, Mark};
use clock::Clock;
use relay::{Barrier, Relay, RelayKey};

const RULE: &str = "happens-before-race";

/// Its entry in the list of monitors.
pub const MONITOR: Registration = Registration {
    name: "happens-before",
    rules: &[RULE],
    on_by_default: true,
    needs: Needs { locksets: false },
    start: || Box::new(HappensBefore::new()),
};

/// Beyond this many threads, lanes are reused although their threads may still be raced with.
const MOST_LANES: usize = 4096;

/// Beyond this many pairs of places, races are only counted.
const MOST_PAIRS: usize = 10_000;

/// How much is kept of what could still matter.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Variables.
    pub variables: usize,
    /// Locks, volatile variables, tasks and the like.
    pub relays: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { variables: 1 << 20, relays: 1 << 17 }
    }
}

/// Whether forgetting what is old was not enough.
fn is_crowded(remembered: usize, limit: usize) -> bool {
    remembered > limit / 4 * 3
}

#[derive(Debug, Default)]
struct Thread {
    timeline: Timeline,
    /// What it knows of other threads. What it knows of itself is the timeline's, and stands here only
    /// when others are to know it.
    clock: Clock,
    /// Counts how often it came to know more of others.
    version: u64,
    /// For each block that is open, outermost first: the time since when, and the blocks that are open in it.
    open: Vec<(u64, ContextId)>,
}

impl Thread {
    /// The blocks that are open.
    fn context(&self) -> ContextId {
        self.open.last().map_or(ContextId::OUTSIDE, |(_, context)| *context)
    }

    /// The blocks that were open at an earlier time, as far as they still are.
    fn context_at(&self, time: u64) -> ContextId {
        let open = self.open.iter().rev().find(|(begin, _)| *begin <= time);
        open.map_or(ContextId::UNKNOWN, |(_, context)| *context)
    }

    /// Whether a step has happened before what the thread does now.
    fn knows(&self, lane: Lane, step: Step) -> bool {
        if step.lane() == lane {
            step.time() <= self.timeline.now()
        } else {
            self.clock.covers(step)
        }
    }

    fn learn(&mut self, other: &Clock) {
        if self.clock.join(other) {
            self.version += 1;
        }
    }

    /// All that it knows, itself included.
    fn knowledge(&mut self, lane: Lane) -> &Clock {
        self.clock.set(lane, self.timeline.now());
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
    first: (ThreadId, Doing),
    second: (ThreadId, Doing),
    count: u64,
}

/// The monitor.
#[derive(Debug, Default)]
pub struct HappensBefore {
    lanes: Lanes,
    threads: Vec<Thread>,
    limits: Limits,
    variables: Table<Accesses>,
    relays: Table<Relay>,
    barriers: Table<Barrier>,
    /// What was passed on by relays that were forgotten although somebody may not know it.
    forgotten: Clock,
    /// When variables and when relays were last looked through.
    variables_swept: Clock,
    relays_swept: Clock,
    /// What threads know that are started and have done nothing yet.
    started: FxHashMap<ThreadId, Clock>,
    contexts: Contexts,
    races: BTreeMap<Pair, Race>,
    count: u64,
    latest: Option<Variable>,
}

impl HappensBefore {
    /// A monitor that has seen nothing yet.
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
        (self.variables.len(), self.relays.len() + self.barriers.len())
    }

    #[inline]
    fn lane(&mut self, thread: ThreadId) -> Lane {
        match self.lanes.find(thread) {
            Some(lane) => lane,
            None => self.new_lane(thread),
        }
    }

    #[cold]
    fn new_lane(&mut self, thread: ThreadId) -> Lane {
        let mut clock = self.started.remove(&thread).unwrap_or_default();
        let threads = &self.threads;
        let is_over = |lane: Lane| clock.get(lane) >= threads[lane.index()].timeline.now();
        let mut reused = self.lanes.reuse(thread, is_over);
        if reused.is_none() && self.lanes.len() >= MOST_LANES {
            reused = self.lanes.reuse(thread, |_| true);
            if let Some(lane) = reused {
                clock.join(self.threads[lane.index()].knowledge(lane));
            }
        }
        let lane = match reused {
            Some(lane) => {
                self.threads[lane.index()].timeline.restart();
                lane
            }
            None => {
                self.threads.push(Thread::default());
                self.lanes.add(thread)
            }
        };
        let thread = &mut self.threads[lane.index()];
        thread.clock = clock;
        thread.version += 1;
        thread.open.clear();
        thread.timeline.advance(Epoch(0));
        lane
    }

    /// The event happens now; the thread that does it.
    fn advance(&mut self, event: &Event) -> Lane {
        let lane = self.lane(event.thread);
        self.threads[lane.index()].timeline.advance(event.epoch);
        lane
    }

    #[cold]
    fn race(&mut self, first: Mark, second: Mark, variable: Variable) {
        self.count += 1;
        self.latest = Some(variable);
        let pair = Pair { first: first.doing.site, second: second.doing.site };
        if let Some(known) = self.races.get_mut(&pair) {
            known.count += 1;
        } else if self.races.len() < MOST_PAIRS {
            let actor = |mark: Mark| (self.lanes.thread(mark.step.lane()), mark.doing);
            let (first, second) = (actor(first), actor(second));
            self.races.insert(pair, Race { variable, first, second, count: 1 });
        }
    }

    fn access(&mut self, event: &Event, access: Access, variable: Variable) {
        let lane = self.advance(event);
        if self.variables.is_full() {
            self.sweep_variables();
        }
        let thread = &self.threads[lane.index()];
        let doing = Doing::new(Verb::of(event.action), event.site, thread.context());
        let mark = Mark { step: Step::new(lane, thread.timeline.now()), doing };
        let accesses = self.variables.entry(Key::from(variable));
        let knows = |step: Step| thread.knows(lane, step);
        let unordered = match access {
            Access::Read => accesses.read(mark, knows),
            Access::Write => accesses.write(mark, knows),
        };
        if let Some(first) = unordered {
            self.race(first, mark, variable);
        }
    }

    /// An access that happened before. What it may race with was looked at when it happened.
    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        let Some(lane) = self.lanes.find(event.thread) else { return };
        if self.variables.is_full() {
            self.sweep_variables();
        }
        let thread = &mut self.threads[lane.index()];
        let time = thread.timeline.past(event.epoch);
        let doing = Doing::new(Verb::of(event.action), event.site, thread.context_at(time));
        let mark = Mark { step: Step::new(lane, time), doing };
        let accesses = self.variables.entry(Key::from(variable));
        match access {
            Access::Read => accesses.earlier_read(mark),
            Access::Write => accesses.earlier_write(mark),
        }
    }

    fn receive(&mut self, event: &Event, key: RelayKey, mode: Mode) {
        let lane = self.advance(event);
        let thread = &mut self.threads[lane.index()];
        match self.relays.get(key.into()) {
            Some(relay) => relay.pass_on(thread, lane, mode),
            None if self.forgotten.is_empty() => {}
            None => thread.learn(&self.forgotten),
        }
    }

    /// What the thread did so far is added to what is passed on.
    fn publish(&mut self, event: &Event, key: RelayKey) {
        let lane = self.advance(event);
        let relay = Self::relay(&mut self.relays, key, &self.forgotten);
        relay.add(&mut self.threads[lane.index()], lane);
        if self.relays.is_full() {
            self.sweep_relays();
        }
    }

    fn release(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        let lane = self.advance(event);
        let relay = Self::relay(&mut self.relays, RelayKey::Lock(lock), &self.forgotten);
        let thread = &mut self.threads[lane.index()];
        match mode {
            Mode::Exclusive => relay.replace(thread, lane),
            Mode::Shared => relay.share(thread, lane),
        }
        if self.relays.is_full() {
            self.sweep_relays();
        }
    }

    /// A relay; a new one passes on what was forgotten, because it may be one of those.
    fn relay<'a>(relays: &'a mut Table<Relay>, key: RelayKey, forgotten: &Clock) -> &'a mut Relay {
        let relay = relays.entry(key.into());
        if !forgotten.is_empty() && relay.is_new() {
            relay.remember(forgotten);
        }
        relay
    }

    fn fork(&mut self, event: &Event, child: ThreadId) {
        let lane = self.advance(event);
        let clock = self.threads[lane.index()].knowledge(lane).clone();
        match self.lanes.find(child) {
            Some(child) => self.threads[child.index()].learn(&clock),
            None => {
                self.started.insert(child, clock);
            }
        }
    }

    fn join(&mut self, event: &Event, child: ThreadId) {
        let lane = self.advance(event);
        // A thread that did nothing still was started by somebody.
        if let Some(clock) = self.started.get(&child) {
            self.threads[lane.index()].learn(clock);
        } else if let Some(child) = self.lanes.find(child)
            && child != lane
        {
            let clock = self.threads[child.index()].knowledge(child).clone();
            self.threads[lane.index()].learn(&clock);
        }
    }

    fn arrive(&mut self, event: &Event, barrier: ObjectId) {
        let lane = self.advance(event);
        if self.barriers.is_full() {
            let known = self.known_to_all();
            self.barriers.make_room(|barrier| barrier.matters(&known));
        }
        let barrier = self.barriers.entry(RelayKey::Published(barrier).into());
        barrier.arrive(lane, self.threads[lane.index()].knowledge(lane));
    }

    fn pass(&mut self, event: &Event, barrier: ObjectId) {
        let lane = self.advance(event);
        let barrier = self.barriers.entry(RelayKey::Published(barrier).into());
        self.threads[lane.index()].learn(barrier.pass(lane));
    }

    /// What every thread knows that is still there.
    fn known_to_all(&mut self) -> Clock {
        let mut known: Option<Clock> = None;
        for (at, thread) in self.threads.iter_mut().enumerate() {
            if !thread.timeline.has_ended() {
                let knowledge = thread.knowledge(Lane(at as u32));
                match &mut known {
                    Some(known) => known.meet(knowledge),
                    None => known = Some(knowledge.clone()),
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
            now.set(Lane(at as u32), thread.timeline.now());
        }
        now
    }

    #[cold]
    fn sweep_variables(&mut self) {
        let mut known = self.known_to_all();
        self.variables.make_room(|accesses| accesses.prune(&known));
        if self.variables.len() > self.limits.variables {
            known.join(&self.variables_swept);
            self.variables.make_room(|accesses| accesses.prune(&known));
            if is_crowded(self.variables.len(), self.limits.variables) {
                self.variables.make_room(|_| false);
            }
        }
        self.variables_swept = self.now();
    }

    #[cold]
    fn sweep_relays(&mut self) {
        let known = self.known_to_all();
        self.relays.make_room(|relay| !relay.is_known_to(&known));
        if self.relays.len() > self.limits.relays {
            let swept = std::mem::take(&mut self.relays_swept);
            self.forget_relays(|relay| relay.is_known_to(&swept));
            if is_crowded(self.relays.len(), self.limits.relays) {
                self.forget_relays(|_| true);
            }
        }
        self.relays_swept = self.now();
    }

    /// Forgets relays, but not what they passed on.
    fn forget_relays(&mut self, is_old: impl Fn(&Relay) -> bool) {
        let forgotten = &mut self.forgotten;
        self.relays.make_room(|relay| {
            let is_old = is_old(relay);
            if is_old {
                relay.add_to(forgotten);
            }
            !is_old
        });
    }

    fn finding(&self, race: &Race, tables: &Tables, stacks: &Stacks<'_>) -> Finding {
        let variable = Subject::Variable(race.variable);
        let threads = ThreadNames::new(tables, [race.first.0, race.second.0].into_iter());
        let step = |role, (thread, doing): (ThreadId, Doing)| {
            let mut step = findings::Step::at(role, place(tables, doing.site));
            step.thread = Some(threads.name(thread));
            step.does = Some(Does {
                verb: doing.verb().words().to_string(),
                subject: variable.name(tables, doing.site),
            });
            let context = self.contexts.innermost(doing.context());
            step.stack = stacks.find(doing.site, thread, context, None);
            step
        };
        let site = race.second.1.site;
        Finding {
            rule: RULE,
            evidence: Evidence::Observed,
            severity: Severity::High,
            blame: place(tables, site),
            subjects: BTreeMap::from([("variable", variable.name(tables, site))]),
            stable_subjects: BTreeMap::from([("variable", variable.stable_name(tables, site))]),
            witnesses: vec![Witness::new(
                MONITOR.name,
                vec![step("first", race.first), step("second", race.second)],
            )],
            distance: 0,
            fingerprint: None,
        }
    }
}

impl Monitor for HappensBefore {
    fn event(&mut self, event: &Event) {
        match event.action {
            Action::Read(variable) => self.access(event, Access::Read, variable),
            Action::Write(variable) => self.access(event, Access::Write, variable),
            Action::EarlierRead(variable) => self.earlier(event, Access::Read, variable),
            Action::EarlierWrite(variable) => self.earlier(event, Access::Write, variable),
            Action::VolatileRead(variable) => {
                self.receive(event, RelayKey::Volatile(variable), Mode::Exclusive);
            }
            Action::VolatileWrite(variable) => {
                self.publish(event, RelayKey::Volatile(variable));
            }
            Action::AtomicUpdate(variable) => {
                self.receive(event, RelayKey::Volatile(variable), Mode::Exclusive);
                self.publish(event, RelayKey::Volatile(variable));
            }
            Action::Acquire(lock) => self.receive(event, RelayKey::Lock(lock), Mode::Exclusive),
            Action::AcquireShared(lock) => {
                self.receive(event, RelayKey::Lock(lock), Mode::Shared);
            }
            Action::Woken(lock) => self.receive(event, RelayKey::Lock(lock), Mode::Exclusive),
            Action::Release(lock) => self.release(event, lock, Mode::Exclusive),
            Action::ReleaseShared(lock) => self.release(event, lock, Mode::Shared),
            Action::Wait(lock) => self.release(event, lock, Mode::Exclusive),
            Action::ThreadBegin | Action::Notify(_) | Action::NotifyAll(_) => {
                self.advance(event);
            }
            Action::Begin => {
                let lane = self.advance(event);
                let thread = &mut self.threads[lane.index()];
                let context = self.contexts.enter(thread.context(), event.site);
                thread.open.push((thread.timeline.now(), context));
            }
            Action::End => {
                let lane = self.advance(event);
                self.threads[lane.index()].open.pop();
            }
            Action::ThreadEnd => {
                let lane = self.advance(event);
                self.threads[lane.index()].timeline.end();
                self.lanes.end(lane);
            }
            Action::Fork(child) => self.fork(event, child),
            Action::Join(child) => self.join(event, child),
            Action::Submit(task) => self.publish(event, RelayKey::Submitted(task)),
            Action::TaskBegin(task) => {
                self.receive(event, RelayKey::Submitted(task), Mode::Exclusive);
            }
            Action::TaskEnd(task) => self.publish(event, RelayKey::Ended(task)),
            Action::TaskJoin(task) => self.receive(event, RelayKey::Ended(task), Mode::Exclusive),
            Action::Publish(object) => self.publish(event, RelayKey::Published(object)),
            Action::Receive(object) => {
                self.receive(event, RelayKey::Published(object), Mode::Exclusive);
            }
            Action::LatchDown(latch) => self.publish(event, RelayKey::Latch(latch)),
            Action::LatchPass(latch) => {
                self.receive(event, RelayKey::Latch(latch), Mode::Exclusive);
            }
            Action::BarrierArrive(barrier) => self.arrive(event, barrier),
            Action::BarrierPass(barrier) => self.pass(event, barrier),
            Action::ClassInitialised(class) => self.publish(event, RelayKey::Class(class)),
            Action::ClassUsed(class) => {
                self.receive(event, RelayKey::Class(class), Mode::Exclusive);
            }
            Action::Escape(..) | Action::Branch(_) => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        let stacks = Stacks::new(tables);
        self.races.values().map(|race| self.finding(race, tables, &stacks)).collect()
    }
}
