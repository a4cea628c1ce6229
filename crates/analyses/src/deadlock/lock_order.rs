//! The lock-order graph: which lock is wanted while which other one is held (dissertation, 6.2.3).

use std::collections::{BTreeMap, BTreeSet};

use program::interner::Interner;
use program::summaries;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::execution::{Acquisition, ContextId, HeldLock, LockMode, Order};
use crate::heap::{ObjectId, Place};

program::typed_ids! {
    /// What happened before an acquisition; the same for many.
    OrderId "order";
}

/// A further lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GateLock {
    /// The abstract object.
    pub(super) object: ObjectId,
    /// Where it was taken.
    pub(super) taken_at: Place,
    /// How it is held.
    pub(super) mode: LockMode,
}

/// One way in which a lock is wanted while another is held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EdgeInstance {
    /// Where the lock that is held was taken.
    pub(super) held_at: Place,
    /// Where the other one is wanted.
    pub(super) wanted_at: Place,
    /// How the one is held.
    pub(super) held_mode: LockMode,
    /// How the other is wanted.
    pub(super) wanted_mode: LockMode,
    /// All other locks that are held, sorted: a thread that holds one of them too cannot get in the way.
    pub(super) gate_locks: Vec<GateLock>,
    /// What happened before.
    pub(super) order: OrderId,
    /// Which calls lead there.
    pub(super) context: ContextId,
}

/// The graph: an edge from each lock to those that are wanted while it is held.
#[derive(Default)]
pub(super) struct LockOrder {
    /// The locks that are taken, with where; the places are sorted and few.
    pub(super) taken: BTreeMap<ObjectId, FxHashSet<(Place, ContextId)>>,
    ways: BTreeMap<(ObjectId, ObjectId), FxHashSet<EdgeInstance>>,
    /// What happened before the acquisitions.
    pub(super) orders: Interner<OrderId, Order>,
}

impl LockOrder {
    /// Learns that a lock is taken.
    pub(super) fn add(&mut self, acquisition: &Acquisition<'_>) {
        let Some(wanted) = acquisition.lock.object else { return };
        self.taken.entry(wanted).or_default().insert((acquisition.place, acquisition.context));
        // A timed attempt does not wait for ever; that the lock is held afterwards shows in later acquisitions.
        if acquisition.gives_up || acquisition.held.is_empty() {
            return;
        }
        let order = self.orders.intern_copy(acquisition.order);
        for (position, held) in acquisition.held.iter().enumerate() {
            let Some(object) = held.object else { continue };
            if object == wanted && !acquisition.is_other_instance {
                continue;
            }
            let others = acquisition.held.iter().enumerate();
            let others = others.filter(|(other, _)| *other != position);
            let gate_lock = |lock: &HeldLock| {
                Some(GateLock { object: lock.object?, taken_at: lock.taken_at, mode: lock.mode })
            };
            let mut gate_locks: Vec<GateLock> =
                others.filter_map(|(_, other)| gate_lock(other)).collect();
            gate_locks.sort_unstable();
            gate_locks.dedup();
            self.ways.entry((object, wanted)).or_default().insert(EdgeInstance {
                held_at: held.taken_at,
                wanted_at: acquisition.place,
                held_mode: held.mode,
                wanted_mode: acquisition.lock.mode,
                gate_locks,
                order,
                context: acquisition.context,
            });
        }
    }

    /// The edges with the ways to take them, both in a fixed order.
    pub(super) fn edges(&self) -> BTreeMap<(ObjectId, ObjectId), Vec<&EdgeInstance>> {
        let sorted = |ways| {
            let mut ways: Vec<&EdgeInstance> = Vec::from_iter(ways);
            ways.sort_unstable();
            ways
        };
        self.ways.iter().map(|(edge, ways)| (*edge, sorted(ways))).collect()
    }

    /// The edges that are parts of cycles, in which abstract objects may be taken for one that are not.
    pub(super) fn cyclic_edges(&self) -> BTreeMap<(ObjectId, ObjectId), Vec<&EdgeInstance>> {
        let objects: BTreeSet<ObjectId> =
            self.ways.keys().flat_map(|(from, to)| [*from, *to]).collect();
        let objects: Vec<ObjectId> = objects.into_iter().collect();
        let position = |object: &ObjectId| objects.binary_search(object).ok();
        let mut successors: Vec<Vec<usize>> = vec![Vec::new(); objects.len()];
        for (from, to) in self.ways.keys() {
            if let (Some(from), Some(to)) = (position(from), position(to)) {
                successors[from].push(to);
            }
        }
        let mut component: FxHashMap<ObjectId, usize> = FxHashMap::default();
        for (number, members) in summaries::components(&successors).iter().enumerate() {
            component.extend(members.iter().map(|member| (objects[*member], number)));
        }
        let mut edges = self.edges();
        edges.retain(|(from, to), _| component.get(from) == component.get(to));
        edges
    }
}
