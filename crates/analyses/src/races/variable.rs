//! One variable of one abstract object: who accesses it, and which of these accesses conflict.
//!
//! Accesses that differ only in their place, or in the context that they are made in, are decided about together: what
//! matters is how they are protected, and there are few ways.

use std::collections::BTreeMap;

use program::ids::TypedVec;
use program::ir::{Instruction, Operation};
use program::models::Effect;
use program::{FieldId, Program};
use rustc_hash::FxHashMap;

use super::conflict::{
    self, AcceptedReasons, AccessLock, ComparedAccess, ConflictFacts, SafetyReason, Verdict,
};
use super::listener::{Locks, LocksId, OrderId, RecordedAccess, Records};
use crate::execution::{AccessKind, BaseReference, ContextId, ExecutionFacts, Order, Published};
use crate::heap::{ObjectId, Place, Slot, ThreadId, ThreadSet};

/// Ways of protection that are compared with each other, at most. Objects that the reference analysis mixes up have
/// more; what is known of the order is then given up first, which makes them fewer.
const MOST_WAYS: usize = 200;

/// An access: one statement under the same protection, in all contexts that agree in that.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) kind: AccessKind,
    pub(super) place: Place,
    pub(super) base: BaseReference,
    pub(super) is_atomic: bool,
    pub(super) is_in_constructor: bool,
    /// The locks, with the places where they were taken.
    pub(super) locks: LocksId,
    pub(super) order: OrderId,
    pub(super) value: Option<ObjectId>,
    pub(super) value_is_fresh: bool,
    pub(super) threads: ThreadSet,
    /// The context that is the fewest calls away from the beginning of a thread.
    pub(super) context: ContextId,
    /// Whether all locks are known that are held, at least in some context.
    pub(super) has_all_locks: bool,
}

/// A variable of an abstract object, with all accesses by threads of the program.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) object: ObjectId,
    pub(super) slot: Slot,
    pub(super) events: Vec<Event>,
}

/// What is the same for all variables.
pub(super) struct RaceFacts<'a> {
    pub(super) execution: &'a ExecutionFacts<'a>,
    pub(super) records: &'a Records,
    pub(super) conflict_facts: &'a dyn ConflictFacts,
    /// For each list of locks, what matters for conflicts.
    guards: TypedVec<LocksId, Vec<AccessLock>>,
    /// For each context how many calls are between it and the beginning of a thread.
    depths: TypedVec<ContextId, u32>,
    nothing_known: Order,
}

impl<'a> RaceFacts<'a> {
    pub(super) fn new(
        execution: &'a ExecutionFacts<'a>,
        records: &'a Records,
        conflict_facts: &'a dyn ConflictFacts,
    ) -> RaceFacts<'a> {
        let mut monitors = FxHashMap::default();
        let mut is_monitor = |taken_at: Place| {
            *monitors
                .entry(taken_at)
                .or_insert_with(|| takes_monitor(execution.context.program, taken_at))
        };
        let guards = records.locks.iter().map(|locks| guards_of(locks, &mut is_monitor)).collect();
        let depths = depths(execution);
        let nothing_known = Order { may_have_published: Published::Anything, ..Order::default() };
        RaceFacts { execution, records, conflict_facts, guards, depths, nothing_known }
    }

    /// The first field that refers to an object.
    pub(super) fn holder(&self, object: ObjectId) -> Option<FieldId> {
        let fields = self.execution.heap.objects[object].referred_by.iter();
        fields
            .filter_map(|(_, slot)| match slot {
                Slot::Field(field) => Some(*field),
                Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => None,
            })
            .min()
    }

    /// The calls between the beginning of a thread and an event.
    pub(super) fn depth(&self, event: &Event) -> u32 {
        self.depths[event.context]
    }

    pub(super) fn guards(&self, event: &Event) -> &[AccessLock] {
        &self.guards[event.locks]
    }

    pub(super) fn compared_access<'s>(&'s self, event: &'s Event) -> ComparedAccess<'s> {
        ComparedAccess {
            kind: event.kind,
            is_atomic: event.is_atomic,
            base: event.base,
            is_in_constructor: event.is_in_constructor,
            guards: self.guards(event),
            order: &self.records.orders[event.order],
            threads: &event.threads,
        }
    }

    /// All variables, in the order of objects and slots, with the accesses that some thread makes.
    pub(super) fn variables(&self) -> Vec<Variable> {
        let by_variable =
            self.records.accesses.chunk_by(|a, b| (a.object, a.slot) == (b.object, b.slot));
        by_variable
            .map(|accesses| Variable {
                object: accesses[0].object,
                slot: accesses[0].slot,
                events: self.events(accesses),
            })
            .filter(|variable| !variable.events.is_empty())
            .collect()
    }

    /// The accesses with their threads; what no thread of its own makes is left out: class initialisers come before
    /// every other use of their class.
    fn events(&self, accesses: &[RecordedAccess]) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        // Recorded accesses are sorted, the context last.
        let without_context =
            |one: &RecordedAccess| RecordedAccess { context: accesses[0].context, ..*one };
        for alike in accesses.chunk_by(|a, b| without_context(a) == without_context(b)) {
            let mut threads = ThreadSet::default();
            for access in alike {
                let user = self.execution.threads[access.context].iter();
                threads.extend(
                    &user.filter(|it| self.execution.heap.threads[*it].is_user_thread()).collect(),
                );
            }
            let reached =
                || alike.iter().filter(|it| !self.execution.threads[it.context].is_empty());
            let nearest = reached().min_by_key(|it| (self.depths[it.context], it.context));
            let Some(nearest) = nearest.filter(|_| !threads.is_empty()) else { continue };
            events.push(Event {
                kind: nearest.kind,
                place: nearest.place,
                base: nearest.base,
                is_atomic: nearest.is_atomic,
                is_in_constructor: nearest.is_in_constructor,
                locks: nearest.locks,
                order: nearest.order,
                value: nearest.value,
                value_is_fresh: nearest.value_is_fresh,
                threads,
                context: nearest.context,
                has_all_locks: reached().any(|it| !self.execution.unknown_locks[it.context]),
            });
        }
        events
    }

    /// Decides about two accesses to one object.
    pub(super) fn decide(
        &self,
        accepted: AcceptedReasons,
        object: ObjectId,
        first: &Event,
        second: &Event,
    ) -> Verdict {
        conflict::decide(
            self.conflict_facts,
            accepted,
            object,
            &self.compared_access(first),
            &self.compared_access(second),
        )
    }

    /// All conflicts of a variable.
    pub(super) fn conflicts(&self, variable: &Variable, accepted: AcceptedReasons) -> Conflicts {
        let (groups, was_cut) = self.groups(variable, accepted);
        let mut conflicts = Conflicts { groups: Vec::new(), pairs: Vec::new(), was_cut };
        let has_write = variable.events.iter().any(|event| event.kind == AccessKind::Write);
        if has_write && !self.conflict_facts.is_thread_specific(variable.object) {
            // Which threads get where in which order is asked again and again.
            let mut known: FxHashMap<[OrderedThreads<'_>; 2], Verdict> = FxHashMap::default();
            for (at, (one, members)) in groups.iter().enumerate() {
                let first = self.compared_access_of_group(variable, one, members);
                for (other_at, (other, others)) in groups.iter().enumerate().skip(at) {
                    let second = self.compared_access_of_group(variable, other, others);
                    let object = variable.object;
                    let conflict_facts = self.conflict_facts;
                    if conflict::without_threads(conflict_facts, accepted, object, &first, &second)
                        .is_some()
                    {
                        continue;
                    }
                    let key = [(one.order, first.threads), (other.order, second.threads)];
                    let verdict = known.entry(key).or_insert_with(|| {
                        conflict::between_threads(conflict_facts, accepted, object, &first, &second)
                    });
                    if let Verdict::Conflict(in_first, in_second) = *verdict {
                        conflicts.pairs.push(Pair {
                            first: at,
                            second: other_at,
                            threads: (in_first, in_second),
                        });
                    }
                }
            }
        }
        conflicts.groups = groups.into_values().collect();
        conflicts
    }

    fn compared_access_of_group<'s>(
        &'s self,
        variable: &'s Variable,
        group: &ProtectionGroup,
        members: &[usize],
    ) -> ComparedAccess<'s> {
        let compared_access = self.compared_access(&variable.events[members[0]]);
        match group.order {
            Some(_) => compared_access,
            None => ComparedAccess { order: &self.nothing_known, ..compared_access },
        }
    }

    /// The ways in which a variable is protected, each with the events that are; and whether some were left out.
    fn groups(
        &self,
        variable: &Variable,
        accepted: AcceptedReasons,
    ) -> (BTreeMap<ProtectionGroup, Vec<usize>>, bool) {
        let mut groups = self.groups_with(variable, accepted, |event| Some(event.order));
        if groups.len() > MOST_WAYS {
            groups = self.groups_with(variable, accepted, |_| None);
        }
        let was_cut = groups.len() > MOST_WAYS;
        while groups.len() > MOST_WAYS {
            groups.pop_last();
        }
        (groups, was_cut)
    }

    fn groups_with(
        &self,
        variable: &Variable,
        accepted: AcceptedReasons,
        order: impl Fn(&Event) -> Option<OrderId>,
    ) -> BTreeMap<ProtectionGroup, Vec<usize>> {
        let mut groups: BTreeMap<ProtectionGroup, Vec<usize>> = BTreeMap::new();
        for (at, event) in variable.events.iter().enumerate() {
            let group = ProtectionGroup {
                kind: event.kind,
                is_atomic: event.is_atomic,
                base: event.base,
                is_in_constructor: event.is_in_constructor,
                guards: match accepted.synchronisation {
                    true => self.guards(event).to_vec(),
                    false => Vec::new(),
                },
                order: order(event),
                threads: event.threads.clone(),
            };
            groups.entry(group).or_default().push(at);
        }
        groups
    }

    /// Why an event is safe: a reason for each other access that it could conflict with, equal ones listed once.
    /// None if there is a conflict.
    pub(super) fn reasons(&self, variable: &Variable, event: &Event) -> Option<Vec<SafetyReason>> {
        let accepted = AcceptedReasons::all(self.execution.context.config.strict);
        let mut reasons = Vec::new();
        for other in &variable.events {
            match self.decide(accepted, variable.object, event, other) {
                Verdict::Safe(reason) => reasons.push(reason),
                Verdict::Conflict(..) => return None,
            }
        }
        reasons.sort_unstable();
        reasons.dedup();
        // That one access cannot disturb itself, and that reads do not disturb each other, is worth saying only
        // where there is nothing else to say.
        let is_plain = |reason: &SafetyReason| {
            matches!(reason, SafetyReason::OneThread | SafetyReason::ReadOnly)
        };
        if reasons.iter().any(|reason| !is_plain(reason)) {
            reasons.retain(|reason| !is_plain(reason));
        }
        Some(reasons)
    }
}

/// What the order of two accesses depends on: what is known to have happened before one of them, and its threads.
type OrderedThreads<'a> = (Option<OrderId>, &'a ThreadSet);

/// How accesses are protected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ProtectionGroup {
    kind: AccessKind,
    is_atomic: bool,
    base: BaseReference,
    is_in_constructor: bool,
    guards: Vec<AccessLock>,
    /// None if nothing is known of it.
    order: Option<OrderId>,
    threads: ThreadSet,
}

/// Two ways of protection that do not exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// Position among the ways.
    pub(super) first: usize,
    /// Position among the ways.
    pub(super) second: usize,
    /// Threads that can get there at the same time.
    pub(super) threads: (ThreadId, ThreadId),
}

/// The conflicts of a variable.
#[derive(Debug)]
pub(super) struct Conflicts {
    /// The events of each way, by position.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) pairs: Vec<Pair>,
    /// Whether there were too many ways to compare all of them.
    pub(super) was_cut: bool,
}

impl Conflicts {
    /// The events that are in conflict with some other, sorted.
    pub(super) fn events(&self) -> Vec<usize> {
        let mut groups: Vec<usize> =
            self.pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
        groups.sort_unstable();
        groups.dedup();
        let mut events: Vec<usize> =
            groups.into_iter().flat_map(|group| self.groups[group].iter().copied()).collect();
        events.sort_unstable();
        events
    }
}

/// Whether what is taken at a place is a monitor: a lock of the library is taken by calling it.
fn takes_monitor(program: &Program, place: Place) -> bool {
    let instruction = program.body(place.method).and_then(|body| {
        body.instructions().find(|instruction| instruction.offset == place.offset)
    });
    let is_acquisition = |instruction: &Instruction| match &instruction.operation {
        Operation::Call(call) => {
            let effects = program.effects_of(call.method);
            effects.iter().any(|effect| matches!(effect, Effect::Acquire { .. }))
        }
        _ => false,
    };
    !instruction.is_some_and(is_acquisition)
}

fn guards_of(locks: &Locks, is_monitor: &mut dyn FnMut(Place) -> bool) -> Vec<AccessLock> {
    let mut guards: Vec<AccessLock> = locks
        .iter()
        .map(|(held, relation)| AccessLock {
            object: held.object,
            mode: held.mode,
            is_monitor: is_monitor(held.taken_at),
            relation: relation.clone(),
        })
        .collect();
    guards.sort_unstable();
    guards.dedup();
    guards
}

/// How many calls lead to each context. A caller need not have a smaller number than what it calls.
fn depths(execution: &ExecutionFacts<'_>) -> TypedVec<ContextId, u32> {
    let mut depths: TypedVec<ContextId, Option<u32>> =
        TypedVec::filled(None, execution.called_from.len());
    for start in execution.called_from.ids() {
        let (mut at, mut open) = (start, Vec::new());
        let mut depth = loop {
            if let Some(known) = depths[at] {
                break known;
            }
            open.push(at);
            match execution.called_from[at] {
                // A circle would be a defect of the execution, and no reason to hang here.
                Some((caller, _)) if open.len() <= execution.called_from.len() => at = caller,
                Some(_) | None => {
                    open.pop();
                    depths[at] = Some(0);
                    break 0;
                }
            }
        };
        while let Some(context) = open.pop() {
            depth += 1;
            depths[context] = Some(depth);
        }
    }
    depths.into_items().map(Option::unwrap_or_default).collect()
}
