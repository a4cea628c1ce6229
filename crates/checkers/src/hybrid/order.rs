//! The order among units: starting and joining threads, tasks, barriers, latches and class initialisation alone.
//!
//! Locks, volatile variables and what library code does inside do not order units: they may as well come in another
//! order in another run. Vector clocks count, for each thread, the stretches between two such operations.

use std::sync::Arc;

use events::{ClassId, ObjectId, ThreadId};
use rustc_hash::FxHashMap;

use crate::locksets::BoundedTable;

/// How far threads are known to have come, by thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<(ThreadId, u32)>);

impl Clock {
    /// The threads of which it knows something.
    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.0.iter().map(|(thread, _)| *thread)
    }

    /// How far a thread is known to have come.
    pub(super) fn of(&self, thread: ThreadId) -> u32 {
        match self.0.binary_search_by_key(&thread, |(thread, _)| *thread) {
            Ok(at) => self.0[at].1,
            Err(_) => 0,
        }
    }

    fn set(&mut self, thread: ThreadId, stretch: u32) {
        match self.0.binary_search_by_key(&thread, |(thread, _)| *thread) {
            Ok(at) => self.0[at].1 = stretch,
            Err(at) => self.0.insert(at, (thread, stretch)),
        }
    }

    /// Whether everything that the other knows is known already.
    fn includes(&self, other: &Clock) -> bool {
        other.0.iter().all(|(thread, stretch)| self.of(*thread) >= *stretch)
    }

    fn join(&mut self, other: &Clock) {
        for (thread, stretch) in &other.0 {
            if self.of(*thread) < *stretch {
                self.set(*thread, *stretch);
            }
        }
    }
}

/// A stretch of a thread in which it neither sends nor receives order.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) thread: ThreadId,
    /// The number of the stretch, from 1.
    pub(super) stretch: u32,
    /// What is known to have come before, with the stretch itself.
    pub(super) clock: Arc<Clock>,
}

impl Place {
    /// Whether this stretch has ended before the other began.
    pub(super) fn is_before(&self, other: &Place) -> bool {
        self.thread != other.thread && other.clock.of(self.thread) >= self.stretch
    }

    /// Whether nothing orders the two stretches.
    pub(super) fn is_concurrent(&self, other: &Place) -> bool {
        self.thread != other.thread && !self.is_before(other) && !other.is_before(self)
    }

    /// Whether it is the same stretch.
    pub(super) fn is_same(&self, other: &Place) -> bool {
        self.thread == other.thread && Arc::ptr_eq(&self.clock, &other.clock)
    }
}

/// What one thread sends order through, and others receive it from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OrderKey {
    Started(ThreadId),
    Submitted(ObjectId),
    EndOf(ObjectId),
    Latch(ObjectId),
    Class(ClassId),
}

/// The rounds of a barrier.
#[derive(Debug, Default)]
struct Barrier {
    round: u32,
    /// In which round a thread has arrived that has not passed yet.
    arrived: FxHashMap<ThreadId, u32>,
    clocks: FxHashMap<u32, Clock>,
}

#[derive(Debug)]
struct ThreadOrder {
    stretch: u32,
    clock: Arc<Clock>,
    has_ended: bool,
}

/// The clocks of all threads.
#[derive(Debug, Default)]
pub(super) struct Order {
    threads: FxHashMap<ThreadId, ThreadOrder>,
    sent: BoundedTable<OrderKey, Clock>,
    barriers: BoundedTable<ObjectId, Barrier>,
}

impl Order {
    fn thread(&mut self, thread: ThreadId) -> &mut ThreadOrder {
        let sent = &self.sent;
        self.threads.entry(thread).or_insert_with(|| {
            let mut clock = sent.get(&OrderKey::Started(thread)).cloned().unwrap_or_default();
            clock.set(thread, 1);
            ThreadOrder { stretch: 1, clock: Arc::new(clock), has_ended: false }
        })
    }

    /// Where a thread is now.
    pub(super) fn place(&mut self, thread: ThreadId) -> Place {
        let known = self.thread(thread);
        Place { thread, stretch: known.stretch, clock: Arc::clone(&known.clock) }
    }

    /// Whether a thread is known already.
    pub(super) fn knows(&self, thread: ThreadId) -> bool {
        self.threads.contains_key(&thread) || self.sent.get(&OrderKey::Started(thread)).is_some()
    }

    /// What the thread did so far comes before whatever receives from the key.
    pub(super) fn send(&mut self, thread: ThreadId, key: OrderKey) {
        let clock = Arc::clone(&self.thread(thread).clock);
        self.sent.entry(key, Clock::default).join(&clock);
        self.advance(thread);
    }

    fn advance(&mut self, thread: ThreadId) {
        let known = self.thread(thread);
        known.stretch = known.stretch.saturating_add(1);
        let stretch = known.stretch;
        Arc::make_mut(&mut known.clock).set(thread, stretch);
    }

    /// What was sent to the key comes before what the thread does next.
    pub(super) fn receive(&mut self, thread: ThreadId, key: OrderKey) {
        if let Some(clock) = self.sent.get(&key).cloned() {
            self.learn(thread, &clock);
        }
    }

    fn learn(&mut self, thread: ThreadId, clock: &Clock) {
        if !self.thread(thread).clock.includes(clock) {
            self.advance(thread);
            Arc::make_mut(&mut self.thread(thread).clock).join(clock);
        }
    }

    /// All that a thread did comes before what another one does next.
    pub(super) fn join(&mut self, thread: ThreadId, child: ThreadId) {
        let clock = Arc::clone(&self.thread(child).clock);
        self.learn(thread, &clock);
    }

    pub(super) fn end(&mut self, thread: ThreadId) {
        self.thread(thread).has_ended = true;
    }

    pub(super) fn arrive(&mut self, thread: ThreadId, barrier: ObjectId) {
        let clock = Arc::clone(&self.thread(thread).clock);
        let barrier = self.barriers.entry(barrier, Barrier::default);
        let round = barrier.round;
        barrier.arrived.insert(thread, round);
        barrier.clocks.entry(round).or_default().join(&clock);
        self.advance(thread);
    }

    pub(super) fn pass(&mut self, thread: ThreadId, barrier: ObjectId) {
        let barrier = self.barriers.entry(barrier, Barrier::default);
        let Some(round) = barrier.arrived.remove(&thread) else { return };
        let clock = barrier.clocks.get(&round).cloned().unwrap_or_default();
        if round == barrier.round {
            barrier.round += 1;
        }
        if !barrier.arrived.values().any(|it| *it == round) {
            barrier.clocks.remove(&round);
        }
        self.learn(thread, &clock);
    }

    /// Whether a stretch of a thread comes before all that threads do from now on.
    pub(super) fn is_past(&self, thread: ThreadId, stretch: u32) -> bool {
        let others =
            self.threads.iter().filter(|(other, known)| **other != thread && !known.has_ended);
        others.into_iter().all(|(_, known)| known.clock.of(thread) >= stretch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_a_barrier_are_told_apart() {
        let mut order = Order::default();
        let [a, b] = [ThreadId(1), ThreadId(2)];
        let barrier = ObjectId(7);
        let before = order.place(a);
        order.arrive(a, barrier);
        order.arrive(b, barrier);
        order.pass(a, barrier);
        let between = order.place(a);
        // The next round begins before the other thread has passed the first.
        order.arrive(a, barrier);
        order.pass(b, barrier);
        let other = order.place(b);
        assert!(before.is_before(&other) && between.is_concurrent(&other));
    }

    #[test]
    fn what_is_joined_is_past() {
        let mut order = Order::default();
        let [main, child] = [ThreadId(0), ThreadId(1)];
        let before = order.place(main);
        order.send(main, OrderKey::Started(child));
        let meanwhile = order.place(main);
        let in_child = order.place(child);
        assert!(before.is_before(&in_child) && meanwhile.is_concurrent(&in_child));
        assert!(!order.is_past(child, in_child.stretch));
        order.end(child);
        order.join(main, child);
        assert!(in_child.is_before(&order.place(main)));
        assert!(order.is_past(child, in_child.stretch));
    }
}
