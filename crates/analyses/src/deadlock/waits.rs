//! Waiting with a lock that the waker needs, and waiting for what nobody signals (dissertation, 6.2.2).

use std::collections::{BTreeMap, BTreeSet};

use findings::Severity;
use program::{ClassId, FieldId};
use rustc_hash::FxHashSet;

use super::lock_order::LockOrder;
use crate::execution::{ContextId, ExecutionFacts, HeldLock, Signal, SignalKind};
use crate::heap::{AbstractObject, NameRoot, ObjectId, Place, Slot, ThreadSet};

/// A wait without a time limit, or a notification.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct SignalRecord {
    place: Place,
    context: ContextId,
    /// The lock that is given back while waiting.
    lock: Option<ObjectId>,
    held: Vec<HeldLock>,
}

/// All waits without a time limit, and all notifications, by the object.
#[derive(Default)]
pub(super) struct Waits {
    waits: BTreeMap<ObjectId, FxHashSet<SignalRecord>>,
    notifications: BTreeMap<ObjectId, FxHashSet<SignalRecord>>,
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
    pub(super) notifier: Option<(Place, ContextId, Place)>,
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
    /// Adds a wait or a notification.
    pub(super) fn add(&mut self, signal: &Signal<'_>) {
        let Some(object) = signal.object else { return };
        let known = match signal.kind {
            SignalKind::Wait { is_timed: true } => return,
            SignalKind::Wait { is_timed: false } => &mut self.waits,
            SignalKind::Notify => &mut self.notifications,
        };
        known.entry(object).or_default().insert(SignalRecord {
            place: signal.place,
            context: signal.context,
            lock: signal.lock,
            held: signal.held.to_vec(),
        });
    }

    /// The waits with another lock that other threads take too. The worst one for each place.
    pub(super) fn critical(
        &self,
        execution: &ExecutionFacts<'_>,
        order: &LockOrder,
    ) -> Vec<CriticalWait> {
        let mut worst: BTreeMap<Place, CriticalWait> = BTreeMap::new();
        for (object, wait) in sorted(&self.waits) {
            let given_back = wait.lock.unwrap_or(object);
            for held in &wait.held {
                let Some(other) = held.object else { continue };
                let is_imprecise =
                    [other, object].iter().any(|it| execution.heap.objects[*it].is_imprecise());
                if other == given_back || other == object || is_imprecise {
                    continue;
                }
                let Some((notifier, severity)) =
                    self.severity_of_held_lock(execution, order, object, wait, other)
                else {
                    continue;
                };
                let found = CriticalWait {
                    object,
                    place: wait.place,
                    context: wait.context,
                    held: held.clone(),
                    notifier,
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
    fn severity_of_held_lock(
        &self,
        execution: &ExecutionFacts<'_>,
        order: &LockOrder,
        object: ObjectId,
        wait: &SignalRecord,
        other: ObjectId,
    ) -> Option<(Option<(Place, ContextId, Place)>, Severity)> {
        let waiting = &execution.threads[wait.context];
        let taken = order.taken.get(&other)?;
        let is_contended = taken
            .iter()
            .any(|(_, context)| can_meet(execution, waiting, &execution.threads[*context]));
        if !is_contended {
            return None;
        }
        let wakers: Vec<&SignalRecord> = notifications(&self.notifications, object)
            .filter(|notifier| can_meet(execution, waiting, &execution.threads[notifier.context]))
            .collect();
        let taking =
            |notifier: &&&SignalRecord| notifier.held.iter().any(|held| held.object == Some(other));
        let through_lock: Vec<&&SignalRecord> = wakers.iter().filter(taking).collect();
        let notifier = through_lock.first().map(|notifier| {
            let taken_at = notifier.held.iter().find(|held| held.object == Some(other));
            let taken_at = taken_at.map_or(notifier.place, |held| held.taken_at);
            (notifier.place, notifier.context, taken_at)
        });
        // Whoever could wake the waiting thread needs what that thread keeps: nobody gets through.
        let is_single_object = execution.heap.objects[other].properties.is_unique
            || execution.heap.objects[object].properties.host == Some(other);
        let is_certain =
            is_single_object && notifier.is_some() && through_lock.len() == wakers.len();
        let is_known = execution.heap.objects[other].properties.is_unique;
        let severity = match (is_certain, notifier.is_some() || is_known) {
            (true, _) => Severity::High,
            (false, true) => Severity::Medium,
            (false, false) => Severity::Low,
        };
        Some((notifier, severity))
    }

    /// The waits on objects that nobody else signals. One for each place.
    pub(super) fn indefinite(&self, execution: &ExecutionFacts<'_>) -> Vec<IndefiniteWait> {
        let mut found: BTreeMap<(Place, ObjectId), IndefiniteWait> = BTreeMap::new();
        for (object, wait) in sorted(&self.waits) {
            let waiting = &execution.threads[wait.context];
            let is_woken = notifications(&self.notifications, object)
                .any(|notifier| can_meet(execution, waiting, &execution.threads[notifier.context]));
            let abstract_object = &execution.heap.objects[object];
            // The class notifies on another object that is the same part of another of its instances; it is assumed to
            // notify on this one, too.
            let is_woken = is_woken
                || (!abstract_object.properties.is_unique
                    && self.class_notifies_alike(execution, object, wait.place));
            // A thread that ends wakes whoever waits on it.
            if is_woken
                || abstract_object.properties.is_thread
                || abstract_object.is_imprecise()
                || !has_user_thread(execution, waiting)
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

    /// Whether the class that waits somewhere gives notifications on objects like the one that is waited on.
    fn class_notifies_alike(
        &self,
        execution: &ExecutionFacts<'_>,
        object: ObjectId,
        wait: Place,
    ) -> bool {
        let class_of = |place: Place| execution.context.program.methods[place.method].class;
        let waiting = class_of(wait);
        let parts = PartsOfClass { execution, class: waiting };
        self.notifications.iter().any(|(notified, signals)| {
            signals.iter().any(|signal| class_of(signal.place) == waiting)
                && parts.may_correspond(object, *notified)
        })
    }
}

/// The objects that a class waits on and notifies: what its fields refer to, its instances, and others.
struct PartsOfClass<'a> {
    execution: &'a ExecutionFacts<'a>,
    class: ClassId,
}

impl PartsOfClass<'_> {
    /// Whether two objects may be the same part of two instances of the class.
    fn may_correspond(&self, one: ObjectId, other: ObjectId) -> bool {
        let (fields, other_fields) = (self.fields_of(one), self.fields_of(other));
        if !fields.is_disjoint(&other_fields) {
            return true;
        }
        let objects = &self.execution.heap.objects;
        let (one, other) = (&objects[one], &objects[other]);
        let is_unknown = |object: &AbstractObject| object.classes.is_empty();
        let is_in_fields = !fields.is_empty() && !other_fields.is_empty();
        let hierarchy = &self.execution.context.program.hierarchy;
        // Instances of the class itself may be in fields of each other.
        let mut common = one.classes.iter().filter(|class| other.classes.contains(class));
        common.any(|class| !is_in_fields || hierarchy.is_subtype(*class, self.class))
            || !is_in_fields && (is_unknown(one) || is_unknown(other))
    }

    /// The fields of the class that refer to an object.
    fn fields_of(&self, object: ObjectId) -> BTreeSet<FieldId> {
        let program = self.execution.context.program;
        let referring = &self.execution.heap.objects[object].referred_by;
        let fields = referring.iter().filter_map(|(_, slot)| match slot {
            Slot::Field(field) => Some(*field),
            Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => None,
        });
        let is_own = |field: &FieldId| {
            program.hierarchy.is_subtype(self.class, program.fields[*field].class)
        };
        fields.filter(is_own).collect()
    }
}

fn sorted(
    signals: &BTreeMap<ObjectId, FxHashSet<SignalRecord>>,
) -> impl Iterator<Item = (ObjectId, &SignalRecord)> {
    signals.iter().flat_map(|(object, signals)| {
        let mut signals: Vec<&SignalRecord> = signals.iter().collect();
        signals.sort_unstable();
        signals.into_iter().map(|signal| (*object, signal))
    })
}

fn notifications(
    signals: &BTreeMap<ObjectId, FxHashSet<SignalRecord>>,
    object: ObjectId,
) -> impl Iterator<Item = &SignalRecord> {
    let mut found: Vec<&SignalRecord> = signals.get(&object).into_iter().flatten().collect();
    found.sort_unstable();
    found.into_iter()
}

/// Whether two different threads can be behind these sets.
fn can_meet(execution: &ExecutionFacts<'_>, one: &ThreadSet, other: &ThreadSet) -> bool {
    one.iter().any(|first| other.iter().any(|second| execution.heap.can_interleave(first, second)))
}

fn has_user_thread(execution: &ExecutionFacts<'_>, threads: &ThreadSet) -> bool {
    threads.iter().any(|thread| execution.heap.threads[thread].is_user_thread())
}

/// Whether code that is not part of the program may know the object, and signal it.
fn is_known_outside(object: &AbstractObject) -> bool {
    object.roots.iter().any(|root| matches!(root, NameRoot::Library(_) | NameRoot::Outside(_)))
}
