//! The symbolic execution of all abstract threads (dissertation, 3.4).
//!
//! Every method is looked at in every context that its callers make, from the first methods of the threads
//! on. Calls that touch nothing that threads share are not followed (call clipping), and contexts that are
//! known are not looked at again (call caching).
//!
//! Property: every access to a shared object that some run of the program makes, in code that the call graph
//! knows, is reported in a context whose locks the run holds; so are acquisitions, starts and joins.
//!
//! Misses what the heap shape graph or the call graph misses. May report accesses that no run makes.
//!
//! Deviations.
//! 1. Threads share contexts, see [`super::context`]; contexts are found breadth first, so that the first
//!    way to each is a short one.
//! 2. A limit. The dissertation's execution is exponential in the worst case. Here a method has so many
//!    contexts; further ones drop, step by step, the order, locks without a name, what is fresh, and all
//!    locks. What still does not fit is left out, and the method is listed. When the budget is used up, only
//!    methods that were never seen are looked at.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use program::ids::{ClassId, Id, MethodId, TypedVec};
use program::models::{ContentsAccess, Effect, MemoryAccess, Operand, Sharing};
use program::{Origin, Program};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::binding::{AbstractValue, complete};
use super::context::{BindingId, ContextKey, ContextLock, Contexts, OrderId, ParameterFacts};
use super::event::{
    Access, AccessKind, Acquisition, Allocation, BaseReference, ContextId, HeldLock, Invocation,
    LockMode, Order, Publication, Published, Relation, Signal, SyncVariable, ThreadControl,
};
use super::flow::{
    AccessAction, AccessReference, Action, CallAction, MethodEvent, MethodEvents, State,
    SymbolicLock, method_events, parameter_number,
};
use super::fresh::Ownership;
use super::order::{Channel, OrderEffect};
use super::program_facts::{BaseFactStorage, ProgramFacts, controls_threads, is_touched};
use super::unique::{self, AllocationRecord, CallRecord, ExecutionRecord, StartRecord};
use super::{ExecutionFacts, Listener};
use crate::Context;
use crate::heap::{Heap, ObjectId, Place, Slot, TaskSharing, ThreadKind, ThreadSet};
use crate::locks::expression::{ExpressionRoot, LockExpression};
use crate::sorted::insert;

/// How much context the execution keeps.
#[derive(Clone, Copy, Debug)]
pub struct ExecutionLimits {
    /// Contexts of one method before further ones begin to drop what makes them differ.
    pub contexts_per_method: usize,
    /// Contexts altogether; then as when the budget is used up.
    pub most_contexts: usize,
}

impl Default for ExecutionLimits {
    fn default() -> ExecutionLimits {
        ExecutionLimits { contexts_per_method: 12, most_contexts: 400_000 }
    }
}

impl ExecutionLimits {
    /// For a huge program: each method is looked at about once.
    pub const COARSE: ExecutionLimits =
        ExecutionLimits { contexts_per_method: 1, most_contexts: 100_000 };

    /// Methods with bodies from which on a program is a large one.
    const LARGE_PROGRAM: usize = 3_000;

    /// The limits for a program: a large one reaches most methods in very many ways that differ in little.
    #[must_use]
    pub fn of(program: &Program) -> ExecutionLimits {
        if program.methods_with_bodies().nth(ExecutionLimits::LARGE_PROGRAM).is_some() {
            ExecutionLimits { contexts_per_method: 2, most_contexts: 150_000 }
        } else {
            ExecutionLimits::default()
        }
    }
}

/// How much was done, and how much was saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Contexts that were looked at.
    pub contexts: usize,
    /// Calls that were not followed, since they touch nothing that threads share.
    pub clipped: usize,
    /// Calls whose context was known already.
    pub cached: usize,
    /// Calls whose context lost something that makes it differ.
    pub merged: usize,
    /// Whether time or contexts ran out.
    pub is_cut_short: bool,
}

/// What is known when the execution is over.
pub struct ExecutionResult {
    /// The method of each context.
    pub methods: TypedVec<ContextId, MethodId>,
    /// The abstract threads that get to each context.
    pub threads: TypedVec<ContextId, ThreadSet>,
    /// For each context one that calls it and where; none for those that threads begin with.
    pub called_from: TypedVec<ContextId, Option<(ContextId, Place)>>,
    /// How much was done.
    pub counters: Counters,
    /// Methods some of whose contexts were left out, sorted.
    pub lost_context: Vec<MethodId>,
    /// Whether some locks that are held in a context are not known there.
    pub unknown_locks: TypedVec<ContextId, bool>,
    unique: unique::Counts,
    allocated_at: TypedVec<ObjectId, Vec<Place>>,
}

impl ExecutionResult {
    /// What listeners may ask, once [`ExecutionResult::mark_unique_objects`] has marked the unique objects of the heap.
    #[must_use]
    pub fn facts<'a>(&'a self, context: &'a Context<'a>, heap: &'a Heap) -> ExecutionFacts<'a> {
        ExecutionFacts {
            context,
            heap,
            methods: &self.methods,
            threads: &self.threads,
            called_from: &self.called_from,
            lost_context: &self.lost_context,
            unknown_locks: &self.unknown_locks,
        }
    }

    /// Marks the objects and threads that stand for one at run time, and where objects are allocated.
    pub fn mark_unique_objects(&self, heap: &mut Heap) {
        for (id, object) in heap.objects.ids().zip(heap.objects.iter_mut()) {
            object.properties.is_unique =
                object.properties.is_class || self.unique.objects[id] == 1;
            object.allocated_at.clone_from(&self.allocated_at[id]);
        }
        for (id, thread) in heap.threads.ids().zip(heap.threads.iter_mut()) {
            if thread.kind == ThreadKind::Run && self.unique.threads[id] == 1 {
                thread.is_unique = true;
            }
        }
    }
}

/// Executes all threads, and notifies listeners of what they do. The heap is marked afterwards, by
/// [`ExecutionResult::mark_unique_objects`].
#[must_use]
pub fn execute(
    context: &Context<'_>,
    heap: &Heap,
    listeners: &mut [Box<dyn Listener + '_>],
    limits: &ExecutionLimits,
) -> ExecutionResult {
    let storage = BaseFactStorage::of(context, heap);
    let program_facts = ProgramFacts::new(storage.base_facts(context, heap));
    let mut contexts = Contexts::default();
    let may_have_published = Published::Anything;
    let any_order = contexts.orders.intern_copy(&Order { may_have_published, ..Order::default() });
    let mut engine = Engine {
        context,
        program_facts: &program_facts,
        limits: *limits,
        listeners,
        contexts,
        any_order,
        called_from: TypedVec::new(),
        bindings: TypedVec::new(),
        binding_ids: FxHashMap::default(),
        per_method: FxHashMap::default(),
        events_by_method: FxHashMap::default(),
        contents: FxHashMap::default(),
        can_be: RefCell::default(),
        queue: Vec::new(),
        record: ExecutionRecord::default(),
        counters: Counters::default(),
        lost: BTreeSet::new(),
    };
    engine.enter_threads();
    engine.run_queue();
    engine.finish()
}

/// What those alias sets of a method are that its callers can know.
type Exposed = Box<[Option<ObjectId>]>;

/// What the alias sets of a method are in some context.
struct Binding {
    objects: Vec<Option<ObjectId>>,
    /// Whether something is done to an object that is reported.
    matters: bool,
}

/// One thing that a library call does to the contents of an object of a known class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ContentsEvent {
    kind: AccessKind,
    is_atomic: bool,
    /// Whether it holds the monitor of the object.
    is_synchronized: bool,
}

struct Engine<'a, 'l> {
    context: &'a Context<'a>,
    program_facts: &'a ProgramFacts<'a>,
    limits: ExecutionLimits,
    listeners: &'a mut [Box<dyn Listener + 'l>],
    contexts: Contexts,
    called_from: TypedVec<ContextId, Option<(ContextId, Place)>>,
    bindings: TypedVec<BindingId, Rc<Binding>>,
    binding_ids: FxHashMap<(MethodId, Exposed), BindingId>,
    /// How many contexts of a method keep what makes them differ, and how many only what its parameters are.
    per_method: FxHashMap<MethodId, (usize, usize)>,
    /// The order of contexts that do not keep it: anything may have been started or published.
    any_order: OrderId,
    events_by_method: FxHashMap<MethodId, Rc<MethodEvents>>,
    contents: FxHashMap<(ObjectId, MethodId), Rc<[ContentsEvent]>>,
    can_be: RefCell<FxHashMap<(ObjectId, ClassId), bool>>,
    queue: Vec<ContextId>,
    record: ExecutionRecord,
    counters: Counters,
    lost: BTreeSet<MethodId>,
}

/// What holds at one point of a method, in one context.
struct PointState {
    locks: Vec<ContextLock>,
    held: Vec<HeldLock>,
    order: OrderId,
}

/// What a caller knows of a call.
struct CallEntry {
    method: MethodId,
    binding: BindingId,
    facts: Vec<ParameterFacts>,
    locks: Vec<ContextLock>,
    order: OrderId,
    is_constructing: bool,
}

/// The variable that a channel is, with these objects.
fn variable((subject, slot): Channel, objects: &[Option<ObjectId>]) -> Option<SyncVariable> {
    Some(SyncVariable { object: subject.object(objects)?, slot })
}

/// The context whose events are being reported.
struct ActiveContext<'s> {
    id: ContextId,
    method: MethodId,
    method_events: &'s MethodEvents,
    objects: &'s [Option<ObjectId>],
    facts: &'s [ParameterFacts],
    entry_locks: &'s [ContextLock],
    entry_order: &'s Order,
    entry_order_id: OrderId,
    is_constructing: bool,
}

impl ActiveContext<'_> {
    fn place(&self, event: &MethodEvent) -> Place {
        Place { method: self.method, offset: event.offset }
    }

    fn facts(&self, number: u16) -> ParameterFacts {
        self.facts.get(usize::from(number)).copied().unwrap_or_default()
    }
}

impl Engine<'_, '_> {
    fn program(&self) -> &Program {
        self.program_facts.program()
    }

    fn class_of_static(&self) -> impl Fn(program::ids::FieldId) -> program::ids::ClassId + '_ {
        |field| self.program().fields[field].class
    }

    /// [`ProgramFacts::can_be`], cached.
    fn can_be(&self, object: ObjectId, class: ClassId) -> bool {
        let mut known = self.can_be.borrow_mut();
        *known.entry((object, class)).or_insert_with(|| self.program_facts.can_be(object, class))
    }

    /// The contexts that threads begin with.
    fn enter_threads(&mut self) {
        let program_facts = self.program_facts;
        let (program, heap) = (program_facts.program(), program_facts.heap());
        for (id, thread) in heap.threads.iter_with_ids() {
            let order = match thread.kind {
                ThreadKind::Main => Order {
                    may_have_started: Some(program_facts.running_independently()),
                    ..Order::default()
                },
                ThreadKind::Run
                | ThreadKind::Entry(_)
                | ThreadKind::Client
                | ThreadKind::Public
                | ThreadKind::Init => Order::default(),
            };
            for entry in &thread.entries {
                if program.body(*entry).is_none() {
                    continue;
                }
                let shape = &heap.shapes[*entry];
                let given = heap.entry_binding(program, id, *entry);
                let mut exposed = vec![None; shape.exposed];
                for (node, object) in shape.parameters.iter().zip(&given) {
                    if let (Some(node), Some(object)) = (node, object) {
                        exposed[node.index()] = Some(*object);
                    }
                }
                let is_root =
                    thread.root.is_some() && given.first().copied().flatten() == thread.root;
                let declared = &program.methods[*entry];
                let is_constructor = declared.is_initializer() && !declared.is_static();
                let facts = match is_root && !declared.is_static() {
                    // Whoever calls a constructor has just made the object.
                    _ if is_constructor => {
                        vec![ParameterFacts { is_fresh: true, ..ParameterFacts::default() }]
                    }
                    true => vec![ParameterFacts {
                        is_own_root: thread.root_sharing == TaskSharing::Own,
                        is_perhaps_own_root: thread.root_sharing == TaskSharing::Unknown,
                        ..ParameterFacts::default()
                    }],
                    false => Vec::new(),
                };
                let call_entry = CallEntry {
                    method: *entry,
                    binding: self.bind(*entry, exposed.into_boxed_slice()),
                    facts,
                    locks: Vec::new(),
                    order: self.contexts.orders.intern_copy(&order),
                    is_constructing: is_constructor,
                };
                let key = self.key(&call_entry);
                let context = match self.contexts.keys.find(&key) {
                    Some(known) => known,
                    None => self.add(key, None, false),
                };
                self.record.entries.push((id, context));
            }
        }
    }

    fn bind(&mut self, method: MethodId, exposed: Exposed) -> BindingId {
        let key = (method, exposed);
        if let Some(known) = self.binding_ids.get(&key) {
            return *known;
        }
        let shape = &self.program_facts.heap().shapes[method];
        let objects = complete(self.program_facts.heap(), shape, &key.1);
        let matters = self.program_facts.touches_fixed[method]
            || shape.nodes.iter().zip(&objects).any(|(node, object)| {
                object.is_some_and(|object| self.program_facts.is_reported[object])
                    && is_touched(node)
            });
        let id = self.bindings.push(Rc::new(Binding { objects, matters }));
        self.binding_ids.insert(key, id);
        id
    }

    fn key(&mut self, call_entry: &CallEntry) -> ContextKey {
        let known = call_entry.facts.iter().rposition(|facts| *facts != ParameterFacts::default());
        let count = known.map_or(0, |last| last + 1);
        ContextKey {
            method: call_entry.method,
            binding: call_entry.binding,
            facts: call_entry.facts[..count].into(),
            locks: self.contexts.locks.intern_copy(&call_entry.locks[..]),
            order: call_entry.order,
            is_constructing: call_entry.is_constructing,
        }
    }

    fn add(
        &mut self,
        key: ContextKey,
        from: Option<(ContextId, Place)>,
        is_general: bool,
    ) -> ContextId {
        let (count, general) = self.per_method.entry(key.method).or_default();
        match is_general {
            true => *general += 1,
            false => *count += 1,
        }
        let id = self.contexts.keys.intern(key);
        self.called_from.push(from);
        self.queue.push(id);
        id
    }

    fn is_out_of_time(&mut self) -> bool {
        if !self.counters.is_cut_short {
            let is_late = (self.context.exhausted)() || (self.context.cancelled)();
            let is_full = self.contexts.keys.len() >= self.limits.most_contexts;
            self.counters.is_cut_short = is_late || is_full || (self.context.cancelled)();
        }
        self.counters.is_cut_short
    }

    /// The context that a call leads to; none if there are too many.
    fn enter(
        &mut self,
        mut call_entry: CallEntry,
        from: (ContextId, Place),
        is_late: bool,
    ) -> Option<ContextId> {
        let method = call_entry.method;
        let key = self.key(&call_entry);
        if let Some(known) = self.contexts.keys.find(&key) {
            self.counters.cached += 1;
            return Some(known);
        }
        let limit = self.limits.contexts_per_method;
        let (count, general) = self.per_method.get(&method).copied().unwrap_or_default();
        let level = match (count, general) {
            _ if is_late => 4,
            (count, _) if count * 3 < limit * 2 => 0,
            (count, _) if count < limit => 1,
            (_, general) if general < 2 * limit => 2,
            (_, general) if general < 3 * limit => 3,
            _ => 4,
        };
        if level == 0 {
            return Some(self.add(key, Some(from), false));
        }
        call_entry.order = self.any_order;
        let heap = self.program_facts.heap();
        let locks = call_entry.locks.len();
        if level >= 2 {
            call_entry.locks.retain(|held| {
                let is_class =
                    held.lock.object.is_some_and(|it| heap.objects[it].properties.is_class);
                held.expression.is_some() || !held.around.is_empty() || is_class
            });
        }
        if level >= 3 {
            call_entry.facts.clear();
        }
        if level >= 4 {
            call_entry.locks.clear();
        }
        let key = self.key(&call_entry);
        let is_new = if is_late { count + general == 0 } else { general < 5 * limit };
        let entered = match self.contexts.keys.find(&key) {
            Some(known) => Some(known),
            None => is_new.then(|| self.add(key, Some(from), level >= 2)),
        };
        if let Some(entered) = entered {
            self.counters.merged += 1;
            if call_entry.locks.len() < locks {
                self.record.unknown_locks.push(entered);
            }
            return Some(entered);
        }
        self.lost.insert(method);
        let shape = &heap.shapes[method];
        let objects = &self.bindings[call_entry.binding].objects;
        let allocations = shape
            .nodes
            .iter()
            .zip(objects)
            .filter_map(|(node, object)| object.filter(|_| node.flags.is_allocated));
        self.record.unseen_allocations.extend(allocations);
        None
    }

    /// Reports the events of all contexts, breadth first.
    fn run_queue(&mut self) {
        while !self.queue.is_empty() {
            let wave = std::mem::take(&mut self.queue);
            let mut new: Vec<MethodId> = wave
                .iter()
                .map(|context| self.contexts.keys[*context].method)
                .filter(|method| !self.events_by_method.contains_key(method))
                .collect();
            new.sort_unstable();
            new.dedup();
            let program_facts = self.program_facts;
            let written: Vec<MethodEvents> = new
                .par_iter()
                .map(|method| match program_facts.program().body(*method) {
                    Some(body) => method_events(program_facts, body),
                    None => MethodEvents::default(),
                })
                .collect();
            self.events_by_method.extend(new.into_iter().zip(written.into_iter().map(Rc::new)));
            for context in wave {
                self.execute_context(context);
            }
        }
    }

    fn execute_context(&mut self, id: ContextId) {
        let key = self.contexts.keys[id].clone();
        let Some(method_events) = self.events_by_method.get(&key.method).cloned() else { return };
        let binding = self.bindings[key.binding].clone();
        let entry_order = self.contexts.orders[key.order].clone();
        let mut entry_locks = self.contexts.locks[key.locks].clone();
        self.counters.contexts += 1;
        self.take_implicit_lock(id, &key, &binding.objects, &mut entry_locks);
        let active = ActiveContext {
            id,
            method: key.method,
            method_events: &method_events,
            objects: &binding.objects,
            facts: &key.facts,
            entry_locks: &entry_locks,
            entry_order: &entry_order,
            entry_order_id: key.order,
            is_constructing: key.is_constructing,
        };
        self.notify_own_publications(&active);
        let is_late = self.is_out_of_time();
        let mut point: Option<(usize, PointState)> = None;
        for event in &method_events.events {
            if !self.has_effect(&active, event) {
                continue;
            }
            let current = match point.take() {
                Some((state, known)) if state == event.state => (state, known),
                _ => (event.state, self.point_state(&active, &method_events.states[event.state])),
            };
            self.execute_event(&active, event, &current.1, is_late);
            point = Some(current);
        }
    }

    /// Notifies of what a method may publish to, for the method as a whole.
    fn notify_own_publications(&mut self, active: &ActiveContext<'_>) {
        let states = active.method_events.states.iter().map(|state| &state.order);
        // What is published last is in no state.
        let order_effects = states.chain([&self.program_facts.order_effects[active.method]]);
        let channels = order_effects.flat_map(|order_effect| &order_effect.own);
        let variables: BTreeSet<SyncVariable> =
            channels.filter_map(|channel| variable(*channel, active.objects)).collect();
        self.notify_publications(active.id, active.method, variables.into_iter().map(Some));
    }

    /// Notifies of what a method that is not followed, and those that it calls, may publish to.
    fn notify_publications_of(&mut self, caller: ContextId, method: MethodId, binding: BindingId) {
        let binding = Rc::clone(&self.bindings[binding]);
        match &self.program_facts.order_effects[method].published {
            Published::These(these) => {
                let variables = these.iter().filter_map(|it| variable(*it, &binding.objects));
                self.notify_publications(caller, method, variables.map(Some));
            }
            Published::Anything => self.notify_publications(caller, method, std::iter::once(None)),
        }
    }

    fn notify_publications(
        &mut self,
        context: ContextId,
        method: MethodId,
        variables: impl Iterator<Item = Option<SyncVariable>>,
    ) {
        let place = Place { method, offset: 0 };
        for variable in variables {
            let publication = Publication { context, place, variable };
            self.listeners.iter_mut().for_each(|listener| listener.publication(publication));
        }
    }

    /// A synchronized method takes its lock before its body begins.
    fn take_implicit_lock(
        &mut self,
        id: ContextId,
        key: &ContextKey,
        objects: &[Option<ObjectId>],
        locks: &mut Vec<ContextLock>,
    ) {
        let program_facts = self.program_facts;
        let declared = &program_facts.program().methods[key.method];
        if !declared.is_synchronized() {
            return;
        }
        let (object, expression) = match declared.is_static() {
            true => (
                super::binding::class_object(program_facts.heap(), declared.class),
                LockExpression::new(ExpressionRoot::Class(declared.class)),
            ),
            false => {
                let this =
                    program_facts.heap().shapes[key.method].parameters.first().copied().flatten();
                let object = this.and_then(|node| objects[node.index()]);
                (object, LockExpression::new(ExpressionRoot::Parameter(0)))
            }
        };
        let Some(object) = object else { return };
        let taken_at = Place { method: key.method, offset: 0 };
        let lock = HeldLock { object: Some(object), mode: LockMode::Exclusive, taken_at };
        if self.is_held(key.method, locks, &lock, Some(&expression)) {
            return;
        }
        let held: Vec<HeldLock> = locks.iter().map(|held| held.lock.clone()).collect();
        self.notify_acquisition(id, taken_at, &lock, &held, false, key.order);
        locks.push(ContextLock {
            lock,
            expression: Some(expression),
            around: Vec::new(),
            apart: Vec::new(),
        });
    }

    /// Whether a lock is held already: the names say so, or there is only one such lock.
    fn is_held(
        &self,
        method: MethodId,
        locks: &[ContextLock],
        lock: &HeldLock,
        expression: Option<&LockExpression>,
    ) -> bool {
        locks.iter().any(|held| {
            let covers = held.lock.mode == LockMode::Exclusive || lock.mode == LockMode::Shared;
            let same_name = match (&held.expression, expression) {
                (Some(one), Some(other)) => self.program_facts.are_same_lock(method, one, other),
                _ => false,
            };
            let is_class =
                |object: ObjectId| self.program_facts.heap().objects[object].properties.is_class;
            let same_object = held.lock.object == lock.object && lock.object.is_some_and(is_class);
            covers && (same_name || same_object)
        })
    }

    /// Whether an event has to be reported in this context.
    fn has_effect(&self, active: &ActiveContext<'_>, event: &MethodEvent) -> bool {
        let is_reported = |subject: &AbstractValue| {
            subject
                .object(active.objects)
                .is_some_and(|object| self.program_facts.is_reported[object])
        };
        match &event.action {
            Action::Access(access) => is_reported(&access.reference.subject),
            Action::Contents { reference, .. } => is_reported(&reference.subject),
            Action::Acquire { lock, .. } => lock.subject.as_ref().is_some_and(is_reported),
            Action::Signal { subject, lock, .. } => subject.iter().chain(lock).any(is_reported),
            Action::Allocate(subject) => subject.object(active.objects).is_some(),
            Action::Control { .. } | Action::Call(_) => true,
        }
    }

    /// What holds in a state of the method.
    fn point_state(&mut self, active: &ActiveContext<'_>, state: &State) -> PointState {
        let mut locks: Vec<ContextLock> = active
            .entry_locks
            .iter()
            .filter(|held| {
                let is_released = |name: &LockExpression| {
                    let released = state.released.iter();
                    released
                        .into_iter()
                        .any(|it| self.program_facts.are_same_lock(active.method, it, name))
                };
                state.released.is_empty() || !held.expression.as_ref().is_some_and(is_released)
            })
            .cloned()
            .collect();
        // What the caller named before the state was reached may have been assigned since; only names that
        // were taken here are checked against assignments, since callers' names are of objects that they hold
        // on to.
        for lock in state.held.iter().filter(|lock| !lock.is_reentrant) {
            locks.extend(self.context_lock(active, &locks, lock));
        }
        let held = locks.iter().map(|held| held.lock.clone()).collect();
        let order = match state.order.is_empty() {
            true => active.entry_order_id,
            false => {
                let order = self.order_after(active, &state.order);
                self.contexts.orders.intern_copy(&order)
            }
        };
        PointState { locks, held, order }
    }

    fn context_lock(
        &self,
        active: &ActiveContext<'_>,
        locks: &[ContextLock],
        lock: &SymbolicLock,
    ) -> Option<ContextLock> {
        let object = lock.subject?.object(active.objects)?;
        let taken_at = Place { method: active.method, offset: lock.offset };
        let held = HeldLock { object: Some(object), mode: lock.mode, taken_at };
        if self.is_held(active.method, locks, &held, lock.expression.as_ref()) {
            return None;
        }
        Some(ContextLock {
            lock: held,
            expression: lock.expression,
            around: Vec::new(),
            apart: Vec::new(),
        })
    }

    fn order_after(&self, active: &ActiveContext<'_>, order_effect: &OrderEffect) -> Order {
        let entry = active.entry_order;
        let program_facts = self.program_facts;
        let threads = &program_facts.heap().threads;
        let mut order = entry.clone();
        let mut started = order_effect.started_threads.clone();
        for task in &order_effect.started {
            if let Some(object) = task.object(active.objects) {
                started.extend(program_facts.threads_of(object));
            }
        }
        let started = program_facts.started_with(&started);
        if let Some(known) = &mut order.may_have_started {
            known.extend(&started);
        }
        let mut joined: ThreadSet =
            order.has_joined.iter().filter(|thread| !started.contains(*thread)).collect();
        for thread in started.iter().filter(|thread| threads[*thread].is_scoped) {
            joined.insert(thread);
        }
        for (task, is_all) in &order_effect.joined {
            let Some(object) = task.object(active.objects) else { continue };
            for thread in program_facts.threads_of(object).iter() {
                if *is_all || threads[thread].is_unique {
                    joined.insert(thread);
                }
            }
        }
        order.has_joined = joined;
        let objects = active.objects;
        order.may_have_published.extend_by(&order_effect.published, |it| variable(*it, objects));
        for variable in order_effect.received.iter().filter_map(|it| variable(*it, active.objects))
        {
            insert(&mut order.has_received, variable);
        }
        order
    }

    fn execute_event(
        &mut self,
        active: &ActiveContext<'_>,
        event: &MethodEvent,
        point: &PointState,
        is_late: bool,
    ) {
        let place = active.place(event);
        match &event.action {
            Action::Access(access) => self.access(active, event, point, access),
            Action::Contents { reference, method, value, written } => {
                let Some(object) = reference.subject.object(active.objects) else { return };
                for contents in self.contents_of(object, *method).iter() {
                    let own = contents.is_synchronized.then_some(HeldLock {
                        object: Some(object),
                        mode: LockMode::Exclusive,
                        taken_at: place,
                    });
                    if let Some(own) = &own
                        && !self.is_held(
                            active.method,
                            &point.locks,
                            own,
                            reference.expression.as_ref(),
                        )
                    {
                        let order = point.order;
                        self.notify_acquisition(active.id, place, own, &point.held, false, order);
                    }
                    let accessed = ContextAccess {
                        reference: *reference,
                        object,
                        slot: Slot::Contents,
                        kind: contents.kind,
                        is_atomic: contents.is_atomic,
                        value: value.and_then(|value| value.object(active.objects)),
                        written: *written,
                        own: own.map(ContextLock::unnamed),
                    };
                    self.notify_access(active, event, point, &accessed);
                }
            }
            Action::Acquire { lock, gives_up } => {
                if let Some(taken) = self.context_lock(active, &point.locks, lock) {
                    let order = point.order;
                    self.notify_acquisition(
                        active.id,
                        place,
                        &taken.lock,
                        &point.held,
                        *gives_up,
                        order,
                    );
                }
            }
            Action::Signal { subject, lock, kind } => {
                let object = |subject: &Option<AbstractValue>| {
                    subject.and_then(|it| it.object(active.objects))
                };
                let signal = Signal {
                    context: active.id,
                    place,
                    object: object(subject),
                    lock: object(lock),
                    held: &point.held,
                    kind: *kind,
                };
                self.listeners.iter_mut().for_each(|listener| listener.signal(&signal));
            }
            Action::Control { tasks, threads, is_start, runs_often } => {
                let mut all = threads.clone();
                let mut object = None;
                for task in tasks {
                    if let Some(task) = task.object(active.objects) {
                        object = object.or(Some(task));
                        all.extend(self.program_facts.threads_of(task));
                    }
                }
                if all.is_empty() {
                    return;
                }
                let control = ThreadControl {
                    context: active.id,
                    place,
                    threads: &all,
                    object,
                    is_start: *is_start,
                    order: &self.contexts.orders[point.order],
                };
                self.listeners.iter_mut().for_each(|listener| listener.thread_control(&control));
                if *is_start {
                    self.record.starts.push(StartRecord {
                        context: active.id,
                        threads: all,
                        is_repeated: event.is_repeated || *runs_often,
                    });
                }
            }
            Action::Allocate(subject) => {
                let Some(object) = subject.object(active.objects) else { return };
                let is_repeated = event.is_repeated;
                self.record.allocations.push(AllocationRecord {
                    context: active.id,
                    place,
                    object,
                    is_repeated,
                });
                let allocation = Allocation { context: active.id, place, object };
                self.listeners.iter_mut().for_each(|listener| listener.allocation(allocation));
            }
            Action::Call(calls) => {
                for call in calls {
                    self.call(active, event, point, call, is_late);
                }
            }
        }
    }

    fn call(
        &mut self,
        active: &ActiveContext<'_>,
        event: &MethodEvent,
        point: &PointState,
        call: &CallAction,
        is_late: bool,
    ) {
        let exposed: Exposed = call
            .nodes
            .iter()
            .map(|node| node.and_then(|node| active.objects[node.index()]))
            .collect();
        let callee = &self.program_facts.heap().shapes[call.method];
        let receiver = match self.program().methods[call.method].is_static() {
            true => None,
            false => callee.parameters.first().copied().flatten(),
        };
        let receiver = receiver.and_then(|node| exposed.get(node.index()).copied().flatten());
        if receiver
            .is_some_and(|object| !self.can_be(object, self.program().methods[call.method].class))
        {
            self.counters.clipped += 1;
            return;
        }
        let binding = self.bind(call.method, exposed);
        if !self.bindings[binding].matters
            && !controls_threads(&self.program_facts.order_effects[call.method])
        {
            self.counters.clipped += 1;
            self.notify_publications_of(active.id, call.method, binding);
            return;
        }
        let state = &active.method_events.states[event.state];
        let program = self.program_facts.program();
        let callee = &self.program_facts.heap().shapes[call.method];
        let bound = &self.bindings[binding].objects;
        let facts: Vec<ParameterFacts> = callee
            .parameters
            .iter()
            .zip(&call.values)
            .enumerate()
            .map(|(at, (node, value))| match (node, value) {
                (Some(node), Some(value)) if bound[node.index()].is_some() => {
                    let name = call.expressions.get(at).and_then(Option::as_ref);
                    self.facts_of(active, state, *value, name)
                }
                _ => ParameterFacts::default(),
            })
            .collect();
        let mut locks: Vec<ContextLock> = Vec::with_capacity(point.locks.len());
        let own = call.own.as_ref().and_then(|own| self.context_lock(active, &point.locks, own));
        {
            let class_of_static = self.class_of_static();
            for held in point.locks.iter().chain(&own) {
                let held = held.in_callee(&class_of_static, &call.expressions);
                // Deeper recursion takes more of the same, which changes nothing.
                if !locks.contains(&held) {
                    locks.push(held);
                }
            }
        }
        let is_constructor = &*program.methods[call.method].name == "<init>";
        let call_entry = CallEntry {
            method: call.method,
            binding,
            facts,
            locks,
            order: point.order,
            is_constructing: is_constructor || (active.is_constructing && call.is_on_this),
        };
        let place = active.place(event);
        let Some(to) = self.enter(call_entry, (active.id, place), is_late) else {
            self.notify_publications_of(active.id, call.method, binding);
            return;
        };
        let is_repeated = event.is_repeated || call.is_repeated;
        self.record.calls.push(CallRecord { from: active.id, to, is_repeated });
        let with_own: Vec<HeldLock>;
        let held = match &own {
            Some(own) => {
                with_own = point.held.iter().chain([&own.lock]).cloned().collect();
                &with_own
            }
            None => &point.held,
        };
        let invocation = Invocation { from: active.id, place, to, callee: call.method, held };
        self.listeners.iter_mut().for_each(|listener| listener.invocation(invocation));
    }

    /// What is known of a value.
    fn facts_of(
        &self,
        active: &ActiveContext<'_>,
        state: &State,
        value: program::ids::ValueId,
        expression: Option<&LockExpression>,
    ) -> ParameterFacts {
        let Some(body) = self.program_facts.program().body(active.method) else {
            return ParameterFacts::default();
        };
        let given = parameter_number(body, value).map(|number| active.facts(number));
        let definition = |value| body.definitions[value];
        let of_parameter = |number| match active.facts(number) {
            ParameterFacts { is_fresh: true, .. } => Ownership::Fresh,
            ParameterFacts { is_taken_out: true, .. } => Ownership::TakenOut,
            _ => Ownership::Shared,
        };
        let ownership = state.fresh.ownership(&definition, value, &of_parameter);
        let local = LockExpression::new(ExpressionRoot::Local(value));
        let is_joined = !state.joined.is_empty()
            && [expression, Some(&local)]
                .into_iter()
                .flatten()
                .any(|name| state.joined.binary_search(name).is_ok());
        ParameterFacts {
            is_fresh: ownership == Ownership::Fresh,
            is_taken_out: ownership == Ownership::TakenOut,
            is_own_root: given.is_some_and(|facts| facts.is_own_root),
            is_perhaps_own_root: given.is_some_and(|facts| facts.is_perhaps_own_root),
            is_joined: is_joined || given.is_some_and(|facts| facts.is_joined),
        }
    }

    fn access(
        &mut self,
        active: &ActiveContext<'_>,
        event: &MethodEvent,
        point: &PointState,
        access: &AccessAction,
    ) {
        let Some(object) = access.reference.subject.object(active.objects) else { return };
        if let Slot::Field(field) = access.slot
            && !self.can_be(object, self.program().fields[field].class)
        {
            return;
        }
        let own = access.own.as_ref().and_then(|own| self.context_lock(active, &point.locks, own));
        let accessed = ContextAccess {
            reference: access.reference,
            object,
            slot: access.slot,
            kind: access.kind,
            is_atomic: access.is_atomic,
            value: access.value.and_then(|value| value.object(active.objects)),
            written: access.written,
            own,
        };
        self.notify_access(active, event, point, &accessed);
    }

    fn notify_access(
        &mut self,
        active: &ActiveContext<'_>,
        event: &MethodEvent,
        point: &PointState,
        accessed: &ContextAccess,
    ) {
        let program = self.program_facts.program();
        let state = &active.method_events.states[event.state];
        let Some(body) = program.body(active.method) else { return };
        let name = accessed.reference.expression.as_ref();
        let number = accessed.reference.value.and_then(|value| parameter_number(body, value));
        let is_this = number == Some(0) && !program.methods[active.method].is_static();
        let facts = match accessed.reference.value {
            Some(value) => self.facts_of(active, state, value, name),
            None => ParameterFacts::default(),
        };
        let mut locks: Vec<(HeldLock, Relation)> = {
            let class_of_static = self.class_of_static();
            let related = point.locks.iter();
            related.map(|held| (held.lock.clone(), held.relation(&class_of_static, name))).collect()
        };
        if let Some(own) = &accessed.own {
            let relation = match own.relation(&self.class_of_static(), name) {
                _ if own.lock.object == Some(accessed.object) => Relation::Inside(Vec::new()),
                inside @ Relation::Inside(_) => inside,
                Relation::Around(_) | Relation::Apart | Relation::Unknown => Relation::Unknown,
            };
            locks.push((own.lock.clone(), relation));
        }
        let value_is_fresh = accessed
            .written
            .is_some_and(|value| self.facts_of(active, state, value, None).is_fresh);
        let access = Access {
            context: active.id,
            place: active.place(event),
            object: accessed.object,
            slot: accessed.slot,
            kind: accessed.kind,
            is_atomic: accessed.is_atomic,
            base: BaseReference {
                is_this,
                is_fresh: facts.is_fresh,
                is_taken_out: facts.is_taken_out,
                is_own_root: facts.is_own_root,
                is_perhaps_own_root: facts.is_perhaps_own_root,
                is_joined: facts.is_joined,
            },
            locks: &locks,
            order: &self.contexts.orders[point.order],
            value: accessed.value,
            value_is_fresh,
            is_in_constructor: is_this && active.is_constructing,
        };
        self.listeners.iter_mut().for_each(|listener| listener.access(&access));
    }

    fn notify_acquisition(
        &mut self,
        context: ContextId,
        place: Place,
        lock: &HeldLock,
        held: &[HeldLock],
        gives_up: bool,
        order: OrderId,
    ) {
        let order = &self.contexts.orders[order];
        let is_other_instance = held.iter().any(|other| other.object == lock.object);
        let acquisition =
            Acquisition { context, place, lock, held, is_other_instance, gives_up, order };
        self.listeners.iter_mut().for_each(|listener| listener.acquisition(&acquisition));
    }

    /// What a library method does to the contents of an object, according to its class.
    fn contents_of(&mut self, object: ObjectId, method: MethodId) -> Rc<[ContentsEvent]> {
        if let Some(known) = self.contents.get(&(object, method)) {
            return known.clone();
        }
        let program = self.program_facts.program();
        let mut events: Vec<ContentsEvent> = Vec::new();
        for class in &self.program_facts.heap().objects[object].classes {
            let class = &program.classes[*class];
            if class.origin != Origin::Application || program.is_described_by_user(method) {
                events.extend(contents_by_class(self.program_facts, &class.name, method));
            }
        }
        // The least safe class decides.
        events.sort_unstable();
        events.dedup_by_key(|event| event.kind);
        let events: Rc<[ContentsEvent]> = events.into();
        self.contents.insert((object, method), events.clone());
        events
    }

    fn finish(self) -> ExecutionResult {
        let heap = self.program_facts.heap();
        let contexts = self.contexts.keys.len();
        let mut allocated_at: TypedVec<ObjectId, Vec<Place>> =
            TypedVec::filled(Vec::new(), heap.objects.len());
        for allocations in &self.record.allocations {
            allocated_at[allocations.object].push(allocations.place);
        }
        for places in allocated_at.iter_mut() {
            places.sort_unstable();
            places.dedup();
        }
        ExecutionResult {
            methods: self.contexts.keys.iter().map(|key| key.method).collect(),
            threads: unique::threads(&self.record, contexts),
            called_from: self.called_from,
            counters: self.counters,
            lost_context: self.lost.into_iter().collect(),
            unknown_locks: unique::unknown_locks(&self.record, contexts),
            unique: unique::count(heap, &self.record, contexts),
            allocated_at,
        }
    }
}

/// A variable that is touched in a context.
struct ContextAccess {
    reference: AccessReference,
    object: ObjectId,
    slot: Slot,
    kind: AccessKind,
    is_atomic: bool,
    value: Option<ObjectId>,
    written: Option<program::ids::ValueId>,
    own: Option<ContextLock>,
}

fn contents_by_class(
    program_facts: &ProgramFacts<'_>,
    class: &str,
    method: MethodId,
) -> Vec<ContentsEvent> {
    let declared = &program_facts.program().methods[method];
    let models = program_facts.program().models();
    let is_mere_look =
        !program_facts.has_access_order && models.writes_in_access_order(class, &declared.name);
    let row = models
        .find(class, &declared.name, &declared.descriptor)
        .or_else(|| program_facts.program().row_of(method).filter(|row| row.source.is_user));
    let effects = row.map_or(&[][..], |row| row.effects);
    let is_synchronized = effects.iter().any(|effect| {
        matches!(effect, Effect::Synchronized { lock: Operand::Receiver | Operand::Field(_) })
    });
    let mut events = Vec::new();
    let mut add = |kind, is_atomic| events.push(ContentsEvent { kind, is_atomic, is_synchronized });
    for effect in effects {
        match effect {
            Effect::Read { of: Operand::Receiver } => add(AccessKind::Read, false),
            Effect::Write { of: Operand::Receiver } if is_mere_look => {
                add(AccessKind::Read, false);
            }
            Effect::Write { of: Operand::Receiver } => add(AccessKind::Write, false),
            Effect::AtomicRead { of: Operand::Receiver, .. } => add(AccessKind::Read, true),
            Effect::AtomicWrite { of: Operand::Receiver, .. } => add(AccessKind::Write, true),
            Effect::AtomicUpdate { of: Operand::Receiver, .. } => {
                add(AccessKind::Read, true);
                add(AccessKind::Write, true);
            }
            _ => {}
        }
    }
    if events.is_empty() && !is_synchronized {
        let kind = match models.contents_access(class, &declared.name, effects) {
            Some(ContentsAccess::Looks) => AccessKind::Read,
            Some(ContentsAccess::Changes | ContentsAccess::Takes) => AccessKind::Write,
            // Who goes through what is not made for threads looks at all of it, also through a view.
            None => match models.sharing(class) {
                Some(Sharing::NotThreadSafe) if goes_through(program_facts, method) => {
                    AccessKind::Read
                }
                _ => return events,
            },
        };
        events.push(ContentsEvent { kind, is_atomic: false, is_synchronized });
    }
    events
}

/// Whether a call makes or moves an iterator or a stream of what its receiver holds.
fn goes_through(program_facts: &ProgramFacts<'_>, method: MethodId) -> bool {
    let program = program_facts.program();
    let declared = &program.methods[method];
    let class = &program.classes[declared.class].name;
    let effects = program.effects_of(method);
    program.models().memory_access(class, &declared.name, effects) == Some(MemoryAccess::Reads)
}
