//! What a run must have done before each acquisition: the order of threads, reads and what they saw, and the critical
//! sections of each lock.

use std::cmp::Ordering;
use std::sync::Arc;

use events::{ClassId, Epoch, Mode, ObjectId, SiteId, ThreadId, Variable};
use rustc_hash::FxHashMap;

use super::lock_graph::{LockGraph, Predicted};

/// After so many acquisitions the rest of the run is not looked at.
const MOST_ACQUISITIONS: u64 = 1 << 20;
/// After so many variables and objects that carry what threads depend on, likewise.
const MOST_PUBLISHED: usize = 1 << 21;

/// What threads publish to and receive from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Variable(Variable),
    Notification(ObjectId),
    Task(ObjectId),
    Object(ObjectId),
    Barrier(ObjectId),
    Latch(ObjectId),
    Class(ClassId),
}

/// How many events of some threads must have happened: thread and count, sorted by thread. The others need not have begun.
pub(super) type Clock = [(u32, u32)];

/// How far the run has come at least when a thread has done so many events.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    pub(super) thread: u32,
    pub(super) count: u32,
    /// What it depends on of the other threads.
    pub(super) others: Arc<Clock>,
    /// The same, but for what it has read of ordinary variables: what synchronisation orders before it.
    pub(super) ordered: Arc<Clock>,
}

/// What threads receive that depend on something: what they depend on, and what of that synchronisation orders.
#[derive(Clone, Debug, Default)]
struct Clocks {
    all: Times,
    ordered: Times,
}

impl Clocks {
    fn of(stamp: &Stamp) -> Clocks {
        let own = [(stamp.thread, stamp.count)];
        Clocks { all: joined(&stamp.others, &own), ordered: joined(&stamp.ordered, &own) }
    }

    fn join(&mut self, other: &Clocks) {
        self.all = joined(&self.all, &other.all);
        self.ordered = joined(&self.ordered, &other.ordered);
    }
}

/// A time in which a thread holds a lock.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// How many events of the thread came before the acquisition.
    pub(super) acquired: u32,
    /// Its place among all acquisitions of the run.
    pub(super) order: u64,
    /// What must have happened when it has ended; nothing if it has not.
    pub(super) released: Option<Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct HeldLock {
    pub(super) lock: ObjectId,
    pub(super) mode: Mode,
    pub(super) site: SiteId,
}

#[derive(Debug)]
struct ThreadState {
    /// How many events it has done.
    count: u32,
    others: Arc<Clock>,
    ordered: Arc<Clock>,
    held: Vec<HeldLock>,
    /// Where the lock graph has the last acquisition, if it was one under another lock.
    last_nested: Option<(ObjectId, usize)>,
    /// The lock that its last event acquired.
    just_acquired: Option<ObjectId>,
    /// The places that it has acquired from since its last event.
    unjudged: Vec<ObjectId>,
}

/// For threads, how far each of them had come.
type Times = Vec<(u32, u32)>;

/// What was released to a place in memory inside the library, by the lock that was released with it, if it was one.
#[derive(Debug, Default)]
struct Place {
    by_lock: Vec<(Option<ObjectId>, Clocks)>,
    /// Releases of which it is not known yet whether they are those of a lock.
    unjudged: Vec<(Epoch, Stamp)>,
}

/// The state of the prediction.
#[derive(Debug, Default)]
pub(super) struct Predictor {
    numbers: FxHashMap<ThreadId, u32>,
    threads: Vec<ThreadState>,
    published: FxHashMap<Key, Clocks>,
    written: FxHashMap<Variable, Stamp>,
    places: FxHashMap<ObjectId, Place>,
    /// In which epoch each release was made. What the library releases with it has the epoch before or after.
    released: FxHashMap<Epoch, ObjectId>,
    sections: FxHashMap<ObjectId, Vec<(u32, Vec<Section>)>>,
    graph: LockGraph,
    acquisitions: u64,
    left_out: u64,
    is_stopped: bool,
}

impl Predictor {
    /// What happens from here on is not known completely, and nothing is predicted from it.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// How many acquisitions were not looked at.
    pub(super) fn acquisitions_left_out(&self) -> u64 {
        self.left_out
    }

    /// The deadlocks that can happen in another order.
    pub(super) fn deadlocks(&self) -> Predicted {
        self.graph.deadlocks(&self.sections, self.threads.len())
    }

    fn number(&mut self, thread: ThreadId) -> usize {
        let next = self.threads.len() as u32;
        let number = *self.numbers.entry(thread).or_insert(next);
        if number == next {
            self.threads.push(ThreadState {
                count: 0,
                others: Arc::from([]),
                ordered: Arc::from([]),
                held: Vec::new(),
                last_nested: None,
                just_acquired: None,
                unjudged: Vec::new(),
            });
            self.graph.threads.push(thread);
        }
        number as usize
    }

    /// The thread does an event; what it depends on from now on.
    fn step(&mut self, thread: usize) -> Stamp {
        self.receive_from_places(thread, None);
        let state = &mut self.threads[thread];
        state.count += 1;
        state.last_nested = None;
        state.just_acquired = None;
        state.stamp(thread)
    }

    pub(super) fn read(&mut self, thread: ThreadId, variable: Variable) {
        if self.is_stopped {
            return;
        }
        let Some(stamp) = self.written.get(&variable).cloned() else { return };
        let thread = self.number(thread);
        self.step(thread);
        let state = &mut self.threads[thread];
        // Who knows of an event knows of all that it depends on.
        if stamp.thread != thread as u32 && count_of(&state.others, stamp.thread) < stamp.count {
            receive(&mut state.others, thread as u32, &Clocks::of(&stamp).all);
        }
    }

    pub(super) fn write(&mut self, thread: ThreadId, variable: Variable) {
        if self.is_stopped || self.is_full() {
            return;
        }
        let thread = self.number(thread);
        let stamp = self.step(thread);
        self.written.insert(variable, stamp);
    }

    pub(super) fn publish(&mut self, thread: ThreadId, key: Key) {
        if self.is_stopped || self.is_full() {
            return;
        }
        let thread = self.number(thread);
        let stamp = self.step(thread);
        self.published.entry(key).or_default().join(&Clocks::of(&stamp));
    }

    pub(super) fn receive(&mut self, thread: ThreadId, key: Key) {
        if self.is_stopped {
            return;
        }
        let thread = self.number(thread);
        self.step(thread);
        if let Some(clock) = self.published.get(&key) {
            self.threads[thread].receive(thread as u32, clock);
        }
    }

    /// Something was released to a place inside the library.
    pub(super) fn release_to_place(&mut self, thread: ThreadId, place: ObjectId, epoch: Epoch) {
        if self.is_stopped || self.is_full() {
            return;
        }
        let thread = self.number(thread);
        let stamp = self.step(thread);
        self.places.entry(place).or_default().unjudged.push((epoch, stamp));
    }

    /// Something was acquired from a place inside the library. A lock does so when it is acquired, and its order is no order
    /// that a reordering must keep: that is decided with the next event of the thread, unless the last one says it.
    pub(super) fn acquire_from_place(&mut self, thread: ThreadId, place: ObjectId) {
        if self.is_stopped {
            return;
        }
        let thread = self.number(thread);
        let lock = self.threads[thread].just_acquired;
        self.threads[thread].unjudged.push(place);
        if lock.is_some() {
            self.receive_from_places(thread, lock);
        }
    }

    /// Receives what was released to the places that the thread has acquired from, but for what was released with this lock.
    fn receive_from_places(&mut self, thread: usize, lock: Option<ObjectId>) {
        for place in std::mem::take(&mut self.threads[thread].unjudged) {
            let Some(place) = self.places.get_mut(&place) else { continue };
            for (epoch, stamp) in std::mem::take(&mut place.unjudged) {
                // The event of a monitor's release follows that of its place, and that of other locks precedes it.
                let beside = [epoch.0.wrapping_sub(1), epoch.0, epoch.0 + 1];
                let with = beside.iter().find_map(|it| self.released.get(&Epoch(*it)).copied());
                let clocks = Clocks::of(&stamp);
                match place.by_lock.iter_mut().find(|(known, _)| *known == with) {
                    Some((_, known)) => known.join(&clocks),
                    None => place.by_lock.push((with, clocks)),
                }
            }
            for (with, clock) in &place.by_lock {
                if with.is_none() || *with != lock {
                    self.threads[thread].receive(thread as u32, clock);
                }
            }
        }
    }

    pub(super) fn receive_from_all(&mut self, thread: ThreadId) {
        if self.is_stopped {
            return;
        }
        let thread = self.number(thread);
        self.step(thread);
        let all: Vec<(u32, u32)> =
            self.threads.iter().zip(0..).map(|(state, number)| (number, state.count)).collect();
        let all = Clocks { all: all.clone(), ordered: all };
        self.threads[thread].receive(thread as u32, &all);
    }

    pub(super) fn fork(&mut self, thread: ThreadId, child: ThreadId) {
        if self.is_stopped {
            return;
        }
        let (thread, child) = (self.number(thread), self.number(child));
        let stamp = self.step(thread);
        self.receive_stamp(child, &stamp);
    }

    pub(super) fn join(&mut self, thread: ThreadId, child: ThreadId) {
        if self.is_stopped {
            return;
        }
        let (thread, child) = (self.number(thread), self.number(child));
        let stamp = self.threads[child].stamp(child);
        self.step(thread);
        self.receive_stamp(thread, &stamp);
    }

    pub(super) fn acquire(&mut self, thread: ThreadId, lock: ObjectId, mode: Mode, site: SiteId) {
        if self.is_stopped || self.is_full() {
            self.left_out += 1;
            return;
        }
        self.acquisitions += 1;
        let thread = self.number(thread);
        self.receive_from_places(thread, Some(lock));
        let state = &mut self.threads[thread];
        if state.held.iter().any(|held| (held.lock, held.mode) == (lock, mode)) {
            return;
        }
        let before = state.stamp(thread);
        let nested = (!state.held.is_empty())
            .then(|| self.graph.add(before.clone(), lock, mode, &state.held, site))
            .flatten();
        state.held.push(HeldLock { lock, mode, site });
        let section = Section { acquired: before.count, order: self.acquisitions, released: None };
        let of_lock = self.sections.entry(lock).or_default();
        match of_lock.iter_mut().find(|(holder, _)| *holder == thread as u32) {
            Some((_, sections)) => sections.push(section),
            None => of_lock.push((thread as u32, vec![section])),
        }
        self.step(thread);
        self.threads[thread].last_nested = nested.map(|node| (lock, node));
        self.threads[thread].just_acquired = Some(lock);
    }

    /// The last acquisition would not have blocked.
    pub(super) fn tried(&mut self, thread: ThreadId, lock: ObjectId) {
        let thread = self.number(thread);
        if let Some((acquired, node)) = self.threads[thread].last_nested.take()
            && acquired == lock
        {
            self.graph.take_back(node);
        }
    }

    pub(super) fn release(&mut self, thread: ThreadId, lock: ObjectId, mode: Mode, epoch: Epoch) {
        if self.is_stopped {
            return;
        }
        let thread = self.number(thread);
        self.released.insert(epoch, lock);
        let held = &mut self.threads[thread].held;
        let Some(at) = held.iter().rposition(|held| (held.lock, held.mode) == (lock, mode)) else {
            return;
        };
        held.remove(at);
        let stamp = self.step(thread);
        let mut of_lock = self.sections.get_mut(&lock).into_iter().flatten();
        let of_thread = of_lock.find(|(holder, _)| *holder == stamp.thread);
        // With a lock that is held in both modes the innermost section ends first.
        let open = of_thread.and_then(|(_, sections)| {
            sections.iter_mut().rev().find(|section| section.released.is_none())
        });
        if let Some(section) = open {
            section.released = Some(stamp);
        }
    }

    fn receive_stamp(&mut self, thread: usize, stamp: &Stamp) {
        let state = &mut self.threads[thread];
        // Who knows of an event knows of all that it depends on.
        if stamp.thread != thread as u32 && count_of(&state.ordered, stamp.thread) < stamp.count {
            state.receive(thread as u32, &Clocks::of(stamp));
        }
    }

    /// Whether a bound is reached; nothing is looked at from then on.
    fn is_full(&mut self) -> bool {
        self.is_stopped = self.acquisitions >= MOST_ACQUISITIONS
            || self.published.len() + self.written.len() + self.places.len() >= MOST_PUBLISHED;
        self.is_stopped
    }
}

impl ThreadState {
    fn stamp(&self, thread: usize) -> Stamp {
        Stamp {
            thread: thread as u32,
            count: self.count,
            others: Arc::clone(&self.others),
            ordered: Arc::clone(&self.ordered),
        }
    }

    fn receive(&mut self, own: u32, clocks: &Clocks) {
        receive(&mut self.others, own, &clocks.all);
        receive(&mut self.ordered, own, &clocks.ordered);
    }
}

/// A thread depends on more than before.
fn receive(known: &mut Arc<Clock>, own: u32, clock: &Clock) {
    let is_news =
        |(thread, count): &(u32, u32)| *thread != own && count_of(known, *thread) < *count;
    if clock.iter().any(is_news) {
        let mut others = joined(known, clock);
        others.retain(|(thread, _)| *thread != own);
        *known = others.into();
    }
}

/// How many events of a thread must have happened.
pub(super) fn count_of(clock: &Clock, thread: u32) -> u32 {
    clock.binary_search_by_key(&thread, |(it, _)| *it).map_or(0, |at| clock[at].1)
}

/// What both clocks demand.
fn joined(one: &Clock, other: &Clock) -> Vec<(u32, u32)> {
    let mut joined = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        match left.0.cmp(&right.0) {
            Ordering::Less => joined.extend(one.next()),
            Ordering::Greater => joined.extend(other.next()),
            Ordering::Equal => {
                joined.push((left.0, left.1.max(right.1)));
                one.next();
                other.next();
            }
        }
    }
    joined.extend(one);
    joined.extend(other);
    joined
}
