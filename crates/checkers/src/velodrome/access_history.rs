//! The state of variables, locks and other objects through which threads conflict.

use events::{ClassId, ObjectId};

use super::graph::{Endpoint, Graph};
use super::intervals::{Interval, Intervals, Use};
use crate::latest_by_thread::{LatestByThread, Timed};
use crate::table::Key;
use crate::timeline::{ThreadSlot, ThreadTime};

/// An operation, and when it happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimedOperation {
    pub(super) thread_time: ThreadTime,
    pub(super) end: Endpoint,
}

impl Timed for TimedOperation {
    fn thread_time(&self) -> ThreadTime {
        self.thread_time
    }
}

/// The operations that the next one can conflict with: the last exclusive operation, and the shared ones
/// of each thread since. Shared operations conflict with exclusive ones only. Small, because there are many.
#[derive(Debug, Default)]
pub(super) struct AccessHistory {
    pub(super) exclusive: TimedOperation,
    /// The only one.
    add_shared: TimedOperation,
    /// All of them, if there are several.
    shared: Option<Box<LatestByThread<TimedOperation>>>,
    /// Operations of which some overlapped others, if there were any.
    intervals: Option<Box<Intervals>>,
}

impl AccessHistory {
    /// Adds a shared operation: a read, the release of a shared lock, a publication.
    pub(super) fn add_shared(&mut self, operation: TimedOperation, graph: &Graph) {
        if operation.thread_time.is_none() {
            return;
        }
        if let Some(shared) = self.shared.as_deref_mut().filter(|shared| !shared.is_empty()) {
            shared.add(operation);
            return;
        }
        let known = self.add_shared.thread_time;
        if !known.is_none()
            && known.slot() != operation.thread_time.slot()
            && graph.node_of(known).is_some()
        {
            let shared = self.shared.get_or_insert_default();
            shared.add(self.add_shared);
            shared.add(operation);
            self.add_shared.thread_time = ThreadTime::NONE;
        } else if known.slot() != operation.thread_time.slot()
            || known.time() <= operation.thread_time.time()
        {
            self.add_shared = operation;
        }
    }

    /// Sets the last exclusive operation, which is ordered after all earlier ones.
    pub(super) fn exclusive(&mut self, operation: TimedOperation) {
        self.exclusive = operation;
        self.add_shared.thread_time = ThreadTime::NONE;
        if let Some(shared) = &mut self.shared {
            shared.clear();
        }
    }

    /// Whether operations on it are intervals.
    pub(super) fn has_intervals(&self) -> bool {
        self.intervals.is_some()
    }

    /// Those of its operations that are intervals.
    pub(super) fn intervals(&self) -> Option<&Intervals> {
        self.intervals.as_deref()
    }

    /// Adds an operation that is an interval. If it overlapped nothing and is exclusive, it comes after all
    /// operations that are none.
    pub(super) fn add_interval(&mut self, interval: Interval, graph: &Graph) {
        if interval.access == Use::Write && interval.is_exact() {
            self.exclusive(TimedOperation::default());
        }
        self.intervals.get_or_insert_default().add(interval, graph);
    }

    /// Appends the shared operations to a list.
    pub(super) fn add_shared_to(&self, list: &mut Vec<TimedOperation>) {
        if !self.add_shared.thread_time.is_none() {
            list.push(self.add_shared);
        }
        if let Some(shared) = &self.shared {
            list.extend_from_slice(shared.as_slice());
        }
    }

    /// Forgets what cannot be on a cycle; returns whether anything is left.
    pub(super) fn prune(&mut self, graph: &Graph) -> bool {
        if let Some(shared) = &mut self.shared {
            shared.retain(|operation| graph.node_of(operation.thread_time).is_some());
            if shared.is_empty() {
                self.shared = None;
            }
        }
        if let Some(intervals) = &mut self.intervals
            && !intervals.prune(graph)
        {
            self.intervals = None;
        }
        self.shared.is_some()
            || self.intervals.is_some()
            || graph.node_of(self.add_shared.thread_time).is_some()
            || graph.node_of(self.exclusive.thread_time).is_some()
    }
}

/// The synchronisation object that a history belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HistoryKey {
    Lock(ObjectId),
    Barrier(ObjectId),
    Submitted(ObjectId),
    Ended(ObjectId),
    Latch(ObjectId),
    Class(ClassId),
}

impl From<HistoryKey> for Key {
    fn from(key: HistoryKey) -> Key {
        let kind = Key::FIRST_OTHER_KIND;
        match key {
            HistoryKey::Lock(object) => Key::new(kind, object),
            HistoryKey::Barrier(object) => Key::new(kind + 1, object),
            HistoryKey::Submitted(object) => Key::new(kind + 2, object),
            HistoryKey::Ended(object) => Key::new(kind + 3, object),
            HistoryKey::Latch(object) => Key::new(kind + 4, object),
            HistoryKey::Class(class) => Key::of_class(kind + 5, class),
        }
    }
}

/// A barrier: the threads that are waiting, and those of the last generation that passed.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    arrived: Vec<(ThreadSlot, TimedOperation)>,
    released: Vec<(ThreadSlot, TimedOperation)>,
}

impl Barrier {
    pub(super) fn arrive(&mut self, slot: ThreadSlot, operation: TimedOperation) {
        self.arrived.retain(|(known, _)| *known != slot);
        self.arrived.push((slot, operation));
    }

    /// All arrivals before the barrier opened for this thread. A thread that passes was waiting, or
    /// another one of its generation has passed already.
    pub(super) fn pass(&mut self, slot: ThreadSlot) -> impl Iterator<Item = TimedOperation> {
        if self.arrived.iter().any(|(known, _)| *known == slot) {
            std::mem::swap(&mut self.arrived, &mut self.released);
            self.arrived.clear();
        }
        self.released.iter().map(|(_, operation)| *operation)
    }

    /// Whether a thread may still be ordered after an arrival.
    pub(super) fn is_needed(&mut self, graph: &Graph) -> bool {
        self.released.retain(|(_, operation)| graph.node_of(operation.thread_time).is_some());
        !self.arrived.is_empty() || !self.released.is_empty()
    }
}
