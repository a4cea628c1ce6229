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
//!    ([`events::Action::Earlier`]) can be compared like any other, and no past clocks are kept. It
//!    must therefore be a new epoch after every operation that others can come to know of: an access in
//!    the epoch of a release counts as made before it.
//! 2. Reads that are reported late are kept beside the others instead of replacing them: whether they
//!    come after them was not looked at.
//! 3. Lanes of threads that have ended are given to threads that begin after that end; beyond
//!    `MOST_LANES` to any thread, which can hide races with threads that ended long ago.
//! 4. Variables and locks that all threads agree about are forgotten.

mod clock;

use std::collections::BTreeMap;
use std::hash::Hash;

use events::{
    Access, Action, ClassId, Epoch, Event, Mode, ObjectId, SiteId, Tables, ThreadId, Variable,
};
use findings::{Evidence, Finding, Severity, Witness};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::subject::{Subject, place};
use crate::timeline::{Lane, Lanes, Step, Timeline};
use crate::{Monitor, Registration};
use clock::Clock;

const RULE: &str = "happens-before-race";

/// Its entry in the list of monitors.
pub const MONITOR: Registration = Registration {
    name: "happens-before",
    rules: &[RULE],
    on_by_default: true,
    start: || Box::new(HappensBefore::new()),
};

/// Beyond this many threads, lanes are reused although their threads may still be raced with.
const MOST_LANES: usize = 4096;

/// Tables smaller than this are not swept.
const FIRST_SWEEP: usize = 4096;

/// Beyond this many pairs of places, races are only counted.
const MOST_PAIRS: usize = 10_000;

#[derive(Debug, Default)]
struct Thread {
    timeline: Timeline,
    clock: Clock,
}

/// An access.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    step: Step,
    site: SiteId,
}

#[derive(Debug, Default)]
struct Accesses {
    write: Mark,
    /// The reads since, each of another thread.
    reads: Vec<Mark>,
}

/// What locks, volatile variables and the like pass on.
#[derive(Debug, Default)]
struct Relay {
    /// From those who had it to themselves, or published to it.
    exclusive: Clock,
    /// From those who shared it.
    shared: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum RelayKey {
    Lock(ObjectId),
    Volatile(Variable),
    Submitted(ObjectId),
    Ended(ObjectId),
    Published(ObjectId),
    Latch(ObjectId),
    Class(ClassId),
}

#[derive(Debug, Default)]
struct Barrier {
    gathering: Clock,
    waiting: FxHashSet<Lane>,
    released: Clock,
}

/// The places of two accesses that race, in the order in which they were observed, and what was
/// accessed, objects left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    first: SiteId,
    second: SiteId,
}

#[derive(Clone, Copy, Debug)]
struct Race {
    variable: Variable,
    count: u64,
}

/// The monitor.
#[derive(Debug, Default)]
pub struct HappensBefore {
    lanes: Lanes,
    threads: Vec<Thread>,
    variables: FxHashMap<Variable, Accesses>,
    relays: FxHashMap<RelayKey, Relay>,
    barriers: FxHashMap<ObjectId, Barrier>,
    /// What threads know that are started and have done nothing yet.
    started: FxHashMap<ThreadId, Clock>,
    races: BTreeMap<Pair, Race>,
    count: u64,
    racy: FxHashSet<Variable>,
    sweep_variables_at: usize,
    sweep_relays_at: usize,
}

impl HappensBefore {
    /// A monitor that has seen nothing yet.
    #[must_use]
    pub fn new() -> HappensBefore {
        HappensBefore {
            sweep_variables_at: FIRST_SWEEP,
            sweep_relays_at: FIRST_SWEEP,
            ..HappensBefore::default()
        }
    }

    /// How many accesses raced with one before.
    #[must_use]
    pub fn races(&self) -> u64 {
        self.count
    }

    /// Whether there was a race on a variable.
    #[must_use]
    pub fn has_race_on(&self, variable: Variable) -> bool {
        self.racy.contains(&variable)
    }

    fn lane(&mut self, thread: ThreadId) -> Lane {
        if let Some(lane) = self.lanes.find(thread) {
            return lane;
        }
        let clock = self.started.remove(&thread).unwrap_or_default();
        let threads = &self.threads;
        let is_over = |lane: Lane| clock.get(lane) >= threads[lane.index()].timeline.now();
        let reused = self.lanes.reuse(thread, is_over).or_else(|| {
            let is_full = self.lanes.len() >= MOST_LANES;
            if is_full { self.lanes.reuse(thread, |_| true) } else { None }
        });
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
        let time = thread.timeline.advance(Epoch(0));
        thread.clock.set(lane, time);
        lane
    }

    /// The event happens now; the thread that does it, with its clock brought up to date.
    fn advance(&mut self, event: &Event) -> Lane {
        let lane = self.lane(event.thread);
        let thread = &mut self.threads[lane.index()];
        let time = thread.timeline.advance(event.epoch);
        thread.clock.set(lane, time);
        lane
    }

    fn race(&mut self, first: Mark, second: SiteId, variable: Variable) {
        self.count += 1;
        self.racy.insert(variable);
        let pair = Pair { first: first.site, second };
        if let Some(known) = self.races.get_mut(&pair) {
            known.count += 1;
        } else if self.races.len() < MOST_PAIRS {
            self.races.insert(pair, Race { variable, count: 1 });
        }
    }

    fn read(&mut self, event: &Event, variable: Variable) {
        let lane = self.advance(event);
        self.sweep_variables();
        let clock = &self.threads[lane.index()].clock;
        let mark = Mark { step: Step::new(lane, clock.get(lane)), site: event.site };
        let accesses = self.variables.entry(variable).or_default();
        let write = accesses.write;
        let is_race = !clock.covers(write.step);
        // Reads that come before this one have nothing to say that it does not say too.
        accesses.reads.retain(|read| !clock.covers(read.step));
        accesses.reads.push(mark);
        if is_race {
            self.race(write, event.site, variable);
        }
    }

    fn write(&mut self, event: &Event, variable: Variable) {
        let lane = self.advance(event);
        self.sweep_variables();
        let clock = &self.threads[lane.index()].clock;
        let mark = Mark { step: Step::new(lane, clock.get(lane)), site: event.site };
        let accesses = self.variables.entry(variable).or_default();
        let write = std::mem::replace(&mut accesses.write, mark);
        let mut unordered = (!clock.covers(write.step)).then_some(write);
        for read in accesses.reads.drain(..) {
            if unordered.is_none() && !clock.covers(read.step) {
                unordered = Some(read);
            }
        }
        if let Some(first) = unordered {
            self.race(first, event.site, variable);
        }
    }

    /// An access that happened before. What it may race with was looked at when it happened.
    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        let Some(lane) = self.lanes.find(event.thread) else { return };
        let time = self.threads[lane.index()].timeline.past(event.epoch);
        let mark = Mark { step: Step::new(lane, time), site: event.site };
        let accesses = self.variables.entry(variable).or_default();
        match access {
            Access::Read => match accesses.reads.iter_mut().find(|read| read.step.lane() == lane) {
                Some(known) => {
                    if known.step.time() < time {
                        *known = mark;
                    }
                }
                None => accesses.reads.push(mark),
            },
            Access::Write => {
                let known = accesses.write.step;
                if known.is_none() || known.lane() != lane || known.time() < time {
                    accesses.write = mark;
                }
            }
        }
    }

    fn receive(&mut self, event: &Event, key: RelayKey, mode: Mode) {
        let lane = self.advance(event);
        if let Some(relay) = self.relays.get(&key) {
            let clock = &mut self.threads[lane.index()].clock;
            clock.join(&relay.exclusive);
            match mode {
                Mode::Exclusive => clock.join(&relay.shared),
                Mode::Shared => {}
            }
        }
    }

    /// What the thread did so far is added to what is passed on.
    fn publish(&mut self, event: &Event, key: RelayKey) {
        let lane = self.advance(event);
        self.sweep_relays();
        self.relays.entry(key).or_default().exclusive.join(&self.threads[lane.index()].clock);
    }

    fn release(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        let lane = self.advance(event);
        self.sweep_relays();
        let clock = &self.threads[lane.index()].clock;
        let relay = self.relays.entry(RelayKey::Lock(lock)).or_default();
        match mode {
            Mode::Exclusive => {
                relay.exclusive.assign(clock);
                relay.shared.clear();
            }
            Mode::Shared => relay.shared.join(clock),
        }
    }

    fn fork(&mut self, event: &Event, child: ThreadId) {
        let lane = self.advance(event);
        let clock = self.threads[lane.index()].clock.clone();
        match self.lanes.find(child) {
            Some(child) => self.threads[child.index()].clock.join(&clock),
            None => {
                self.started.insert(child, clock);
            }
        }
    }

    fn join(&mut self, event: &Event, child: ThreadId) {
        let lane = self.advance(event);
        // A thread that did nothing still was started by somebody.
        if let Some(clock) = self.started.get(&child) {
            self.threads[lane.index()].clock.join(clock);
        } else if let Some(child) = self.lanes.find(child)
            && child != lane
        {
            let clock = std::mem::take(&mut self.threads[child.index()].clock);
            self.threads[lane.index()].clock.join(&clock);
            self.threads[child.index()].clock = clock;
            // The thread is over, with all it did since its last event.
            if self.threads[child.index()].timeline.has_ended() {
                let now = self.threads[child.index()].timeline.now();
                self.threads[lane.index()].clock.set(child, now);
            }
        }
    }

    /// What every thread knows that is still there.
    fn known_to_all(&self) -> Clock {
        let mut threads = self.threads.iter().filter(|thread| !thread.timeline.has_ended());
        let Some(first) = threads.next() else { return Clock::default() };
        let mut known = first.clock.clone();
        threads.for_each(|thread| known.meet(&thread.clock));
        self.started.values().for_each(|clock| known.meet(clock));
        known
    }

    fn sweep_variables(&mut self) {
        if self.variables.len() < self.sweep_variables_at {
            return;
        }
        let known = self.known_to_all();
        self.variables.retain(|_, accesses| {
            accesses.reads.retain(|read| !known.covers(read.step));
            !accesses.reads.is_empty() || !known.covers(accesses.write.step)
        });
        self.sweep_variables_at = (2 * self.variables.len()).max(FIRST_SWEEP);
    }

    fn sweep_relays(&mut self) {
        if self.relays.len() < self.sweep_relays_at {
            return;
        }
        let known = self.known_to_all();
        self.relays.retain(|_, relay| {
            !known.covers_all(&relay.exclusive) || !known.covers_all(&relay.shared)
        });
        self.sweep_relays_at = (2 * self.relays.len()).max(FIRST_SWEEP);
    }

    fn finding(pair: &Pair, race: &Race, tables: &Tables) -> Finding {
        let step = |role, site| findings::Step {
            role,
            site: place(tables, site),
            call_chain: Vec::new(),
            held_locks: Vec::new(),
        };
        let variable = Subject::Variable(race.variable).name(tables, pair.second);
        Finding {
            rule: RULE,
            evidence: Evidence::Observed,
            severity: Severity::High,
            blame: place(tables, pair.second),
            subjects: BTreeMap::from([("variable", variable)]),
            stable_subjects: BTreeMap::new(),
            witnesses: vec![Witness {
                analysis: MONITOR.name,
                steps: vec![step("first", pair.first), step("second", pair.second)],
            }],
            distance: 0,
            fingerprint: None,
        }
    }
}

impl Monitor for HappensBefore {
    fn event(&mut self, event: &Event) {
        match event.action {
            Action::Read(variable) => self.read(event, variable),
            Action::Write(variable) => self.write(event, variable),
            Action::Earlier(access, variable) => self.earlier(event, access, variable),
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
            Action::Acquire(lock, mode) => self.receive(event, RelayKey::Lock(lock), mode),
            Action::Woken(lock) => self.receive(event, RelayKey::Lock(lock), Mode::Exclusive),
            Action::Release(lock, mode) => self.release(event, lock, mode),
            Action::Wait(lock) => self.release(event, lock, Mode::Exclusive),
            Action::ThreadBegin
            | Action::Notify(_)
            | Action::NotifyAll(_)
            | Action::Begin
            | Action::End => {
                self.advance(event);
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
            Action::BarrierArrive(barrier) => {
                let lane = self.advance(event);
                let barrier = self.barriers.entry(barrier).or_default();
                barrier.gathering.join(&self.threads[lane.index()].clock);
                barrier.waiting.insert(lane);
            }
            Action::BarrierPass(barrier) => {
                let lane = self.advance(event);
                let barrier = self.barriers.entry(barrier).or_default();
                if barrier.waiting.contains(&lane) {
                    std::mem::swap(&mut barrier.gathering, &mut barrier.released);
                    barrier.gathering.clear();
                    barrier.waiting.clear();
                }
                self.threads[lane.index()].clock.join(&barrier.released);
            }
            Action::ClassInitialised(class) => self.publish(event, RelayKey::Class(class)),
            Action::ClassUsed(class) => {
                self.receive(event, RelayKey::Class(class), Mode::Exclusive);
            }
            Action::Escape(..) | Action::Branch(_) => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.races.iter().map(|(pair, race)| Self::finding(pair, race, tables)).collect()
    }
}
