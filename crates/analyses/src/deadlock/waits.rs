//! Waiting with a lock that the waker needs, and waiting for what nobody signals (dissertation, 6.2.2).

use std::collections::BTreeMap;

use findings::Severity;
use rustc_hash::FxHashSet;

use super::lock_order::LockOrder;
use crate::execution::{ContextId, HeldLock, Signal, SignalKind, World};
use crate::heap::{AbstractObject, ObjectId, Place, Root, ThreadSet};

/// A wait without a time limit, or a notification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Signalled {
    place: Place,
    context: ContextId,
    /// The lock that is given back while waiting.
    lock: Option<ObjectId>,
    held: Vec<HeldLock>,
}

/// All waits without a time limit, and all notifications, by the object.
#[derive(Default)]
pub(super) struct Waits {
    waits: BTreeMap<ObjectId, FxHashSet<Signalled>>,
    notifications: BTreeMap<ObjectId, FxHashSet<Signalled>>,
}

/// A wait while another lock is held that some thread needs.
#[derive(Clone, Debug)]
pub(super) struct CriticalWait {
    /// What is waited on.
    pub(super) object: ObjectId,
    /// Where.
    pub(super) place: Place,
    /// Which calls lead there.
    pub(super) context: ContextId,
    /// The other lock, and where it was taken.
    pub(super) held: HeldLock,
    /// Where the notification is given under that lock, which calls lead there, and where the lock is taken.
    pub(super) waker: Option<(Place, ContextId, Place)>,
    /// How much it matters.
    pub(super) severity: Severity,
}

/// A wait that nobody ends.
#[derive(Clone, Debug)]
pub(super) struct IndefiniteWait {
    /// What is waited on.
    pub(super) object: ObjectId,
    /// Where.
    pub(super) place: Place,
    /// How much it matters.
    pub(super) severity: Severity,
}

impl Waits {
    /// Learns that a thread waits, or wakes others.
    pub(super) fn learn(&mut self, signal: &Signal<'_>) {
        let Some(object) = signal.object else { return };
        let known = match signal.kind {
            SignalKind::Wait { is_timed: true } => return,
            SignalKind::Wait { is_timed: false } => &mut self.waits,
            SignalKind::Notify => &mut self.notifications,
        };
        known.entry(object).or_default().insert(Signalled {
            place: signal.place,
            context: signal.context,
            lock: signal.lock,
            held: signal.held.to_vec(),
        });
    }

    /// The waits with another lock that other threads take too. The worst one for each place.
    pub(super) fn critical(&self, world: &World<'_>, order: &LockOrder) -> Vec<CriticalWait> {
        let mut worst: BTreeMap<Place, CriticalWait> = BTreeMap::new();
        for (object, wait) in sorted(&self.waits) {
            let given_back = wait.lock.unwrap_or(object);
            for held in &wait.held {
                let Some(other) = held.object else { continue };
                let is_blurred =
                    [other, object].iter().any(|it| world.heap.objects[*it].is_blurred());
                if other == given_back || other == object || is_blurred {
                    continue;
                }
                let Some((waker, severity)) = self.danger(world, order, object, wait, other) else {
                    continue;
                };
                let found = CriticalWait {
                    object,
                    place: wait.place,
                    context: wait.context,
                    held: held.clone(),
                    waker,
                    severity,
                };
                match worst.get(&wait.place) {
                    Some(known) if known.severity >= severity => {}
                    _ => {
                        worst.insert(wait.place, found);
                    }
                }
            }
        }
        worst.into_values().collect()
    }

    /// What can happen because of a lock that is held while waiting: nothing, if no other thread takes it.
    #[allow(clippy::type_complexity, reason = "a waker and how bad it is, used once")]
    fn danger(
        &self,
        world: &World<'_>,
        order: &LockOrder,
        object: ObjectId,
        wait: &Signalled,
        other: ObjectId,
    ) -> Option<(Option<(Place, ContextId, Place)>, Severity)> {
        let waiting = &world.threads[wait.context];
        let taken = order.taken.get(&other)?;
        let is_contended =
            taken.iter().any(|(_, context)| can_meet(world, waiting, &world.threads[*context]));
        if !is_contended {
            return None;
        }
        let wakers: Vec<&Signalled> = notifications(&self.notifications, object)
            .filter(|waker| can_meet(world, waiting, &world.threads[waker.context]))
            .collect();
        let taking = |waker: &&&Signalled| waker.held.iter().any(|held| held.object == Some(other));
        let through_lock: Vec<&&Signalled> = wakers.iter().filter(taking).collect();
        let waker = through_lock.first().map(|waker| {
            let taken_at = waker.held.iter().find(|held| held.object == Some(other));
            let taken_at = taken_at.map_or(waker.place, |held| held.taken_at);
            (waker.place, waker.context, taken_at)
        });
        // Whoever could wake the waiting thread needs what that thread keeps: nobody gets through.
        let is_one = world.heap.objects[other].marks.is_unique
            || world.heap.objects[object].marks.host == Some(other);
        let is_certain = is_one && waker.is_some() && through_lock.len() == wakers.len();
        let is_known = world.heap.objects[other].marks.is_unique;
        let severity = match (is_certain, waker.is_some() || is_known) {
            (true, _) => Severity::High,
            (false, true) => Severity::Medium,
            (false, false) => Severity::Low,
        };
        Some((waker, severity))
    }

    /// The waits on objects that nobody else signals. One for each place.
    pub(super) fn indefinite(&self, world: &World<'_>) -> Vec<IndefiniteWait> {
        let mut found: BTreeMap<(Place, ObjectId), IndefiniteWait> = BTreeMap::new();
        for (object, wait) in sorted(&self.waits) {
            let waiting = &world.threads[wait.context];
            let is_woken = notifications(&self.notifications, object)
                .any(|waker| can_meet(world, waiting, &world.threads[waker.context]));
            let abstract_object = &world.heap.objects[object];
            // Of several objects that are told apart, the class wakes others; it will wake these, too.
            let is_woken = is_woken
                || (!abstract_object.marks.is_unique && self.notifies_in_class(world, wait.place));
            // A thread that ends wakes whoever waits on it.
            if is_woken
                || abstract_object.marks.is_thread
                || abstract_object.is_blurred()
                || !has_user_thread(world, waiting)
            {
                continue;
            }
            let severity =
                if is_known_outside(abstract_object) { Severity::Low } else { Severity::Medium };
            let wait = IndefiniteWait { object, place: wait.place, severity };
            found.entry((wait.place, object)).or_insert(wait);
        }
        found.into_values().collect()
    }

    /// Whether the class that waits somewhere gives notifications as well.
    fn notifies_in_class(&self, world: &World<'_>, wait: Place) -> bool {
        let class_of = |place: Place| world.context.program.methods[place.method].class;
        let mut signals = self.notifications.values().flatten();
        signals.any(|signal| class_of(signal.place) == class_of(wait))
    }
}

fn sorted(
    signals: &BTreeMap<ObjectId, FxHashSet<Signalled>>,
) -> impl Iterator<Item = (ObjectId, &Signalled)> {
    signals.iter().flat_map(|(object, signals)| {
        let mut signals: Vec<&Signalled> = signals.iter().collect();
        signals.sort_unstable();
        signals.into_iter().map(|signal| (*object, signal))
    })
}

fn notifications(
    signals: &BTreeMap<ObjectId, FxHashSet<Signalled>>,
    object: ObjectId,
) -> impl Iterator<Item = &Signalled> {
    let mut found: Vec<&Signalled> = signals.get(&object).into_iter().flatten().collect();
    found.sort_unstable();
    found.into_iter()
}

/// Whether two different threads can be behind these sets.
fn can_meet(world: &World<'_>, one: &ThreadSet, other: &ThreadSet) -> bool {
    one.iter().any(|first| other.iter().any(|second| world.heap.can_interleave(first, second)))
}

fn has_user_thread(world: &World<'_>, threads: &ThreadSet) -> bool {
    threads.iter().any(|thread| world.heap.threads[thread].is_user_thread())
}

/// Whether code that is not part of the program may know the object, and signal it.
fn is_known_outside(object: &AbstractObject) -> bool {
    object.roots.iter().any(|root| matches!(root, Root::Library(_) | Root::Outside(_)))
}
