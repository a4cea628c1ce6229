//! The symbolic execution of all abstract threads (dissertation, 3.4).
//!
//! Every method is looked at in every context that its callers make, from the first methods of the threads
//! on. Calls that touch nothing that threads share are not followed (call clipping), and contexts that are
//! known are not looked at again (call caching).
//!
//! Property: every access to a shared object that some run of the program makes, in code that the call graph
//! knows, is told in a context whose locks the run holds; so are acquisitions, starts and joins.
//!
//! Misses what the heap shape graph or the call graph misses. May tell of accesses that no run makes.
//!
//! Deviations.
//! 1. Threads share contexts, see [`super::context`]; contexts are found breadth first, so that the first
//!    way to each is a short one.
//! 2. A limit. The dissertation's execution is exponential in the worst case. Here a method has so many
//!    contexts; further ones forget, step by step, the order, locks without a name, what is fresh, and all
//!    locks. What still does not fit is left out, and the method is listed. When the budget is used up, only
//!    methods that were never seen are looked at.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use program::ids::{ClassId, Id, MethodId, TypedVec};
use program::models::{ContentsAccess, Effect, Operand};
use program::{Origin, Program};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::binding::{Subject, complete};
use super::context::{BindingId, ContextKey, ContextLock, Contexts, Facts, OrderId};
use super::event::{
    Access, AccessKind, Acquisition, Allocation, Base, ContextId, HeldLock, Invocation, LockMode,
    Order, Publication, Published, Relation, Signal, SyncVariable, ThreadControl,
};
use super::flow::{
    AccessStep, Action, CallStep, Script, ScriptStep, State, SymbolicLock, Through,
    parameter_number, script,
};
use super::order::{Channel, Delta};
use super::setting::{Foundation, Setting, controls_threads, is_touched};
use super::unique::{self, Calls, Made, Record, Start};
use super::{Listener, World};
use crate::Context;
use crate::heap::{Heap, ObjectId, Place, Slot, ThreadKind, ThreadSet};
use crate::locks::expression::{LockExpression, Root};
use crate::sorted::insert;

/// How much context the execution keeps.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Contexts of one method before further ones begin to forget what makes them differ.
    pub contexts_per_method: usize,
    /// Contexts altogether; then as when the budget is used up.
    pub most_contexts: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { contexts_per_method: 12, most_contexts: 400_000 }
    }
}

impl Limits {
    /// For a huge program: each method is looked at about once.
    pub const COARSE: Limits = Limits { contexts_per_method: 1, most_contexts: 100_000 };

    /// Methods with bodies from which on a program is a large one.
    const LARGE_PROGRAM: usize = 3_000;

    /// The limits for a program: a large one reaches most methods in very many ways that differ in little.
    #[must_use]
    pub fn of(program: &Program) -> Limits {
        if program.methods_with_bodies().nth(Limits::LARGE_PROGRAM).is_some() {
            Limits { contexts_per_method: 2, most_contexts: 150_000 }
        } else {
            Limits::default()
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
    /// Calls whose context forgot something.
    pub merged: usize,
    /// Whether time or contexts ran out.
    pub is_cut_short: bool,
}

/// What is known when the execution is over.
pub struct Executed {
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
    pub forgot_locks: TypedVec<ContextId, bool>,
    unique: unique::Counts,
    allocated_at: TypedVec<ObjectId, Vec<Place>>,
}

impl Executed {
    /// What listeners may ask, once [`Executed::mark`] has told the heap which objects are unique.
    #[must_use]
    pub fn world<'a>(&'a self, context: &'a Context<'a>, heap: &'a Heap) -> World<'a> {
        World {
            context,
            heap,
            methods: &self.methods,
            threads: &self.threads,
            called_from: &self.called_from,
            lost_context: &self.lost_context,
            forgot_locks: &self.forgot_locks,
        }
    }

    /// Marks the objects and threads that stand for one at run time, and where objects are allocated.
    pub fn mark(&self, heap: &mut Heap) {
        for (id, object) in heap.objects.ids().zip(heap.objects.iter_mut()) {
            object.marks.is_unique = object.marks.is_class || self.unique.objects[id] == 1;
            object.allocated_at.clone_from(&self.allocated_at[id]);
        }
        for (id, thread) in heap.threads.ids().zip(heap.threads.iter_mut()) {
            if thread.kind == ThreadKind::Run && self.unique.threads[id] == 1 {
                thread.is_unique = true;
            }
        }
    }
}

/// Executes all threads, and tells listeners what they do. The heap is marked afterwards, by
/// [`Executed::mark`].
#[must_use]
pub fn execute(
    context: &Context<'_>,
    heap: &Heap,
    listeners: &mut [Box<dyn Listener + '_>],
    limits: &Limits,
) -> Executed {
    let foundation = Foundation::of(context, heap);
    let setting = Setting::new(foundation.ground(context, heap));
    let mut contexts = Contexts::default();
    let may_have_published = Published::Anything;
    let any_order = contexts.intern_order(&Order { may_have_published, ..Order::default() });
    let mut engine = Engine {
        context,
        setting: &setting,
        limits: *limits,
        listeners,
        contexts,
        any_order,
        called_from: TypedVec::new(),
        bindings: TypedVec::new(),
        binding_ids: FxHashMap::default(),
        per_method: FxHashMap::default(),
        scripts: FxHashMap::default(),
        contents: FxHashMap::default(),
        can_be: RefCell::default(),
        queue: Vec::new(),
        record: Record::default(),
        counters: Counters::default(),
        lost: BTreeSet::new(),
    };
    engine.enter_threads();
    engine.work();
    engine.finish()
}

/// What those alias sets of a method are that its callers can know.
type Exposed = Box<[Option<ObjectId>]>;

/// What the alias sets of a method are in some context.
struct Binding {
    objects: Vec<Option<ObjectId>>,
    /// Whether something is done to an object that is worth telling.
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
    setting: &'a Setting<'a>,
    limits: Limits,
    listeners: &'a mut [Box<dyn Listener + 'l>],
    contexts: Contexts,
    called_from: TypedVec<ContextId, Option<(ContextId, Place)>>,
    bindings: TypedVec<BindingId, Rc<Binding>>,
    binding_ids: FxHashMap<(MethodId, Exposed), BindingId>,
    /// How many contexts of a method keep what makes them differ, and how many only what its parameters are.
    per_method: FxHashMap<MethodId, (usize, usize)>,
    /// What contexts that forget the order say: anything may have been started or published.
    any_order: OrderId,
    scripts: FxHashMap<MethodId, Rc<Script>>,
    contents: FxHashMap<(ObjectId, MethodId), Rc<[ContentsEvent]>>,
    can_be: RefCell<FxHashMap<(ObjectId, ClassId), bool>>,
    queue: Vec<ContextId>,
    record: Record,
    counters: Counters,
    lost: BTreeSet<MethodId>,
}

/// What holds in one state of a script, in one context.
struct Moment {
    locks: Vec<ContextLock>,
    held: Vec<HeldLock>,
    order: OrderId,
}

/// What a caller tells of a call.
struct Entering {
    method: MethodId,
    binding: BindingId,
    facts: Vec<Facts>,
    locks: Vec<ContextLock>,
    order: OrderId,
    is_constructing: bool,
}

/// The variable that a channel is, with these objects.
fn variable((subject, slot): Channel, objects: &[Option<ObjectId>]) -> Option<SyncVariable> {
    Some(SyncVariable { object: subject.object(objects)?, slot })
}

/// One context while its script is played.
struct Stage<'s> {
    id: ContextId,
    method: MethodId,
    script: &'s Script,
    objects: &'s [Option<ObjectId>],
    facts: &'s [Facts],
    entry_locks: &'s [ContextLock],
    entry_order: &'s Order,
    entry_order_id: OrderId,
    is_constructing: bool,
}

impl Stage<'_> {
    fn place(&self, step: &ScriptStep) -> Place {
        Place { method: self.method, offset: step.offset }
    }

    fn facts(&self, number: u16) -> Facts {
        self.facts.get(usize::from(number)).copied().unwrap_or_default()
    }
}

impl Engine<'_, '_> {
    fn program(&self) -> &Program {
        self.setting.program()
    }

    fn class_of_static(&self) -> impl Fn(program::ids::FieldId) -> program::ids::ClassId + '_ {
        |field| self.program().fields[field].class
    }

    /// [`Setting::can_be`], which is asked again and again.
    fn can_be(&self, object: ObjectId, class: ClassId) -> bool {
        let mut known = self.can_be.borrow_mut();
        *known.entry((object, class)).or_insert_with(|| self.setting.can_be(object, class))
    }

    /// The contexts that threads begin with.
    fn enter_threads(&mut self) {
        let setting = self.setting;
        let (program, heap) = (setting.program(), setting.heap());
        for (id, thread) in heap.threads.iter_with_ids() {
            let order = match thread.kind {
                ThreadKind::Main => {
                    Order { may_have_started: Some(setting.running_anyway()), ..Order::default() }
                }
                ThreadKind::Run | ThreadKind::Entry(_) | ThreadKind::Client | ThreadKind::Init => {
                    Order::default()
                }
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
                let facts = match is_root && !program.methods[*entry].is_static() {
                    true => vec![Facts { is_own_root: true, ..Facts::default() }],
                    false => Vec::new(),
                };
                let entering = Entering {
                    method: *entry,
                    binding: self.bind(*entry, exposed.into_boxed_slice()),
                    facts,
                    locks: Vec::new(),
                    order: self.contexts.intern_order(&order),
                    is_constructing: false,
                };
                let key = self.key(&entering);
                let context = match self.contexts.known(&key) {
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
        let shape = &self.setting.heap().shapes[method];
        let objects = complete(self.setting.heap(), shape, &key.1);
        let matters = self.setting.touches_fixed[method]
            || shape.nodes.iter().zip(&objects).any(|(node, object)| {
                object.is_some_and(|object| self.setting.is_noted[object]) && is_touched(node)
            });
        let id = self.bindings.push(Rc::new(Binding { objects, matters }));
        self.binding_ids.insert(key, id);
        id
    }

    fn key(&mut self, entering: &Entering) -> ContextKey {
        let known = entering.facts.iter().rposition(|facts| *facts != Facts::default());
        let count = known.map_or(0, |last| last + 1);
        ContextKey {
            method: entering.method,
            binding: entering.binding,
            facts: entering.facts[..count].into(),
            locks: self.contexts.intern_locks(&entering.locks),
            order: entering.order,
            is_constructing: entering.is_constructing,
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
        let id = self.contexts.add(key);
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
        mut entering: Entering,
        from: (ContextId, Place),
        is_late: bool,
    ) -> Option<ContextId> {
        let method = entering.method;
        let key = self.key(&entering);
        if let Some(known) = self.contexts.known(&key) {
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
        entering.order = self.any_order;
        let heap = self.setting.heap();
        let locks = entering.locks.len();
        if level >= 2 {
            entering.locks.retain(|held| {
                let is_class = held.lock.object.is_some_and(|it| heap.objects[it].marks.is_class);
                held.expression.is_some() || !held.around.is_empty() || is_class
            });
        }
        if level >= 3 {
            entering.facts.clear();
        }
        if level >= 4 {
            entering.locks.clear();
        }
        let key = self.key(&entering);
        let is_new = if is_late { count + general == 0 } else { general < 5 * limit };
        let entered = match self.contexts.known(&key) {
            Some(known) => Some(known),
            None => is_new.then(|| self.add(key, Some(from), level >= 2)),
        };
        if let Some(entered) = entered {
            self.counters.merged += 1;
            if entering.locks.len() < locks {
                self.record.forgot_locks.push(entered);
            }
            return Some(entered);
        }
        self.lost.insert(method);
        let shape = &heap.shapes[method];
        let objects = &self.bindings[entering.binding].objects;
        let made = shape
            .nodes
            .iter()
            .zip(objects)
            .filter_map(|(node, object)| object.filter(|_| node.happenings.is_allocated));
        self.record.made_unseen.extend(made);
        None
    }

    /// Plays the scripts of all contexts, breadth first.
    fn work(&mut self) {
        while !self.queue.is_empty() {
            let wave = std::mem::take(&mut self.queue);
            let mut new: Vec<MethodId> = wave
                .iter()
                .map(|context| self.contexts.keys[*context].method)
                .filter(|method| !self.scripts.contains_key(method))
                .collect();
            new.sort_unstable();
            new.dedup();
            let setting = self.setting;
            let written: Vec<Script> = new
                .par_iter()
                .map(|method| match setting.program().body(*method) {
                    Some(body) => script(setting, body),
                    None => Script::default(),
                })
                .collect();
            self.scripts.extend(new.into_iter().zip(written.into_iter().map(Rc::new)));
            for context in wave {
                self.play(context);
            }
        }
    }

    fn play(&mut self, id: ContextId) {
        let key = self.contexts.keys[id].clone();
        let Some(script) = self.scripts.get(&key.method).cloned() else { return };
        let binding = self.bindings[key.binding].clone();
        let entry_order = self.contexts.orders[key.order].clone();
        let mut entry_locks = self.contexts.locks[key.locks].clone();
        self.counters.contexts += 1;
        self.take_implicit_lock(id, &key, &binding.objects, &mut entry_locks);
        let stage = Stage {
            id,
            method: key.method,
            script: &script,
            objects: &binding.objects,
            facts: &key.facts,
            entry_locks: &entry_locks,
            entry_order: &entry_order,
            entry_order_id: key.order,
            is_constructing: key.is_constructing,
        };
        self.tell_own_publications(&stage);
        let is_late = self.is_out_of_time();
        let mut moment: Option<(usize, Moment)> = None;
        for step in &script.steps {
            if !self.concerns(&stage, step) {
                continue;
            }
            let current = match moment.take() {
                Some((state, known)) if state == step.state => (state, known),
                _ => (step.state, self.moment(&stage, &script.states[step.state])),
            };
            self.step(&stage, step, &current.1, is_late);
            moment = Some(current);
        }
    }

    /// Tells what a method may publish to; told of the method as a whole.
    fn tell_own_publications(&mut self, stage: &Stage<'_>) {
        let states = stage.script.states.iter().map(|state| &state.order);
        // What is published last is in no state.
        let deltas = states.chain([&self.setting.deltas[stage.method]]);
        let channels = deltas.flat_map(|delta| &delta.own);
        let variables: BTreeSet<SyncVariable> =
            channels.filter_map(|channel| variable(*channel, stage.objects)).collect();
        self.tell_publications(stage.id, stage.method, variables.into_iter().map(Some));
    }

    /// Tells what a method that is not followed, and those that it calls, may publish to.
    fn tell_publications_of(&mut self, caller: ContextId, method: MethodId, binding: BindingId) {
        let binding = Rc::clone(&self.bindings[binding]);
        match &self.setting.deltas[method].published {
            Published::These(these) => {
                let variables = these.iter().filter_map(|it| variable(*it, &binding.objects));
                self.tell_publications(caller, method, variables.map(Some));
            }
            Published::Anything => self.tell_publications(caller, method, std::iter::once(None)),
        }
    }

    fn tell_publications(
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
        let setting = self.setting;
        let declared = &setting.program().methods[key.method];
        if !declared.is_synchronized() {
            return;
        }
        let (object, expression) = match declared.is_static() {
            true => (
                super::binding::class_object(setting.heap(), declared.class),
                LockExpression::new(Root::Class(declared.class)),
            ),
            false => {
                let this = setting.heap().shapes[key.method].parameters.first().copied().flatten();
                let object = this.and_then(|node| objects[node.index()]);
                (object, LockExpression::new(Root::Parameter(0)))
            }
        };
        let Some(object) = object else { return };
        let taken_at = Place { method: key.method, offset: 0 };
        let lock = HeldLock { object: Some(object), mode: LockMode::Exclusive, taken_at };
        if self.is_held(key.method, locks, &lock, Some(&expression)) {
            return;
        }
        let held: Vec<HeldLock> = locks.iter().map(|held| held.lock.clone()).collect();
        self.tell_acquisition(id, taken_at, &lock, &held, false, key.order);
        locks.push(ContextLock { lock, expression: Some(expression), around: Vec::new() });
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
                (Some(one), Some(other)) => self.setting.are_one(method, one, other),
                _ => false,
            };
            let is_class = |object: ObjectId| self.setting.heap().objects[object].marks.is_class;
            let same_object = held.lock.object == lock.object && lock.object.is_some_and(is_class);
            covers && (same_name || same_object)
        })
    }

    /// Whether a step does anything that is worth telling in this context.
    fn concerns(&self, stage: &Stage<'_>, step: &ScriptStep) -> bool {
        let is_noted = |subject: &Subject| {
            subject.object(stage.objects).is_some_and(|object| self.setting.is_noted[object])
        };
        match &step.action {
            Action::Access(access) => is_noted(&access.through.subject),
            Action::Contents { through, .. } => is_noted(&through.subject),
            Action::Acquire { lock, .. } => lock.subject.as_ref().is_some_and(is_noted),
            Action::Signal { subject, lock, .. } => subject.iter().chain(lock).any(is_noted),
            Action::Allocate(subject) => subject.object(stage.objects).is_some(),
            Action::Control { .. } | Action::Call(_) => true,
        }
    }

    /// What holds in a state of the script.
    fn moment(&mut self, stage: &Stage<'_>, state: &State) -> Moment {
        let mut locks: Vec<ContextLock> = stage
            .entry_locks
            .iter()
            .filter(|held| {
                let is_released = |name: &LockExpression| {
                    let released = state.released.iter();
                    released.into_iter().any(|it| self.setting.are_one(stage.method, it, name))
                };
                state.released.is_empty() || !held.expression.as_ref().is_some_and(is_released)
            })
            .cloned()
            .collect();
        // What the caller named before the state was reached may have been assigned since; only names that
        // were taken here are checked against assignments, since callers' names are of objects that they hold
        // on to.
        for lock in state.held.iter().filter(|lock| !lock.is_reentrant) {
            locks.extend(self.context_lock(stage, &locks, lock));
        }
        let held = locks.iter().map(|held| held.lock.clone()).collect();
        let order = match state.order.is_empty() {
            true => stage.entry_order_id,
            false => {
                let order = self.order_after(stage, &state.order);
                self.contexts.intern_order(&order)
            }
        };
        Moment { locks, held, order }
    }

    fn context_lock(
        &self,
        stage: &Stage<'_>,
        locks: &[ContextLock],
        lock: &SymbolicLock,
    ) -> Option<ContextLock> {
        let object = lock.subject?.object(stage.objects)?;
        let taken_at = Place { method: stage.method, offset: lock.offset };
        let held = HeldLock { object: Some(object), mode: lock.mode, taken_at };
        if self.is_held(stage.method, locks, &held, lock.expression.as_ref()) {
            return None;
        }
        Some(ContextLock { lock: held, expression: lock.expression, around: Vec::new() })
    }

    fn order_after(&self, stage: &Stage<'_>, delta: &Delta) -> Order {
        let entry = stage.entry_order;
        let setting = self.setting;
        let threads = &setting.heap().threads;
        let mut order = entry.clone();
        let mut started = delta.started_threads.clone();
        for task in &delta.started {
            if let Some(object) = task.object(stage.objects) {
                started.extend(setting.threads_of(object));
            }
        }
        let started = setting.started_with(&started);
        if let Some(known) = &mut order.may_have_started {
            known.extend(&started);
        }
        let mut joined: ThreadSet =
            order.has_joined.iter().filter(|thread| !started.contains(*thread)).collect();
        for thread in started.iter().filter(|thread| threads[*thread].is_scoped) {
            joined.insert(thread);
        }
        for (task, is_all) in &delta.joined {
            let Some(object) = task.object(stage.objects) else { continue };
            for thread in setting.threads_of(object).iter() {
                if *is_all || threads[thread].is_unique {
                    joined.insert(thread);
                }
            }
        }
        order.has_joined = joined;
        let objects = stage.objects;
        order.may_have_published.extend_by(&delta.published, |it| variable(*it, objects));
        for variable in delta.received.iter().filter_map(|it| variable(*it, stage.objects)) {
            insert(&mut order.has_received, variable);
        }
        order
    }

    fn step(&mut self, stage: &Stage<'_>, step: &ScriptStep, moment: &Moment, is_late: bool) {
        let place = stage.place(step);
        match &step.action {
            Action::Access(access) => self.access(stage, step, moment, access),
            Action::Contents { through, method, value, written } => {
                let Some(object) = through.subject.object(stage.objects) else { return };
                for event in self.contents_of(object, *method).iter() {
                    let own = event.is_synchronized.then_some(HeldLock {
                        object: Some(object),
                        mode: LockMode::Exclusive,
                        taken_at: place,
                    });
                    if let Some(own) = &own
                        && !self.is_held(
                            stage.method,
                            &moment.locks,
                            own,
                            through.expression.as_ref(),
                        )
                    {
                        let order = moment.order;
                        self.tell_acquisition(stage.id, place, own, &moment.held, false, order);
                    }
                    let touched = Touched {
                        through: *through,
                        object,
                        slot: Slot::Contents,
                        kind: event.kind,
                        is_atomic: event.is_atomic,
                        value: value.and_then(|value| value.object(stage.objects)),
                        written: *written,
                        own,
                    };
                    self.tell_access(stage, step, moment, &touched);
                }
            }
            Action::Acquire { lock, gives_up } => {
                if let Some(taken) = self.context_lock(stage, &moment.locks, lock) {
                    let order = moment.order;
                    self.tell_acquisition(
                        stage.id,
                        place,
                        &taken.lock,
                        &moment.held,
                        *gives_up,
                        order,
                    );
                }
            }
            Action::Signal { subject, lock, kind } => {
                let object =
                    |subject: &Option<Subject>| subject.and_then(|it| it.object(stage.objects));
                let signal = Signal {
                    context: stage.id,
                    place,
                    object: object(subject),
                    lock: object(lock),
                    held: &moment.held,
                    kind: *kind,
                };
                self.listeners.iter_mut().for_each(|listener| listener.signal(&signal));
            }
            Action::Control { tasks, threads, is_start, runs_often } => {
                let mut all = threads.clone();
                let mut object = None;
                for task in tasks {
                    if let Some(task) = task.object(stage.objects) {
                        object = object.or(Some(task));
                        all.extend(self.setting.threads_of(task));
                    }
                }
                if all.is_empty() {
                    return;
                }
                let control = ThreadControl {
                    context: stage.id,
                    place,
                    threads: &all,
                    object,
                    is_start: *is_start,
                    order: &self.contexts.orders[moment.order],
                };
                self.listeners.iter_mut().for_each(|listener| listener.thread_control(&control));
                if *is_start {
                    self.record.starts.push(Start {
                        context: stage.id,
                        threads: all,
                        is_repeated: step.is_repeated || *runs_often,
                    });
                }
            }
            Action::Allocate(subject) => {
                let Some(object) = subject.object(stage.objects) else { return };
                let is_repeated = step.is_repeated;
                self.record.made.push(Made { context: stage.id, place, object, is_repeated });
                let allocation = Allocation { context: stage.id, place, object };
                self.listeners.iter_mut().for_each(|listener| listener.allocation(allocation));
            }
            Action::Call(calls) => {
                for call in calls {
                    self.call(stage, step, moment, call, is_late);
                }
            }
        }
    }

    fn call(
        &mut self,
        stage: &Stage<'_>,
        step: &ScriptStep,
        moment: &Moment,
        call: &CallStep,
        is_late: bool,
    ) {
        let exposed: Exposed = call
            .nodes
            .iter()
            .map(|node| node.and_then(|node| stage.objects[node.index()]))
            .collect();
        let callee = &self.setting.heap().shapes[call.method];
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
        if !self.bindings[binding].matters && !controls_threads(&self.setting.deltas[call.method]) {
            self.counters.clipped += 1;
            self.tell_publications_of(stage.id, call.method, binding);
            return;
        }
        let state = &stage.script.states[step.state];
        let program = self.setting.program();
        let callee = &self.setting.heap().shapes[call.method];
        let bound = &self.bindings[binding].objects;
        let facts: Vec<Facts> = callee
            .parameters
            .iter()
            .zip(&call.values)
            .enumerate()
            .map(|(at, (node, value))| match (node, value) {
                (Some(node), Some(value)) if bound[node.index()].is_some() => {
                    let name = call.expressions.get(at).and_then(Option::as_ref);
                    self.facts_of(stage, state, *value, name)
                }
                _ => Facts::default(),
            })
            .collect();
        let mut locks: Vec<ContextLock> = Vec::with_capacity(moment.locks.len());
        let own = call.own.as_ref().and_then(|own| self.context_lock(stage, &moment.locks, own));
        {
            let class_of_static = self.class_of_static();
            for held in moment.locks.iter().chain(&own) {
                let held = held.in_callee(&class_of_static, &call.expressions);
                // Deeper recursion takes more of the same, which changes nothing.
                if !locks.contains(&held) {
                    locks.push(held);
                }
            }
        }
        let is_constructor = &*program.methods[call.method].name == "<init>";
        let entering = Entering {
            method: call.method,
            binding,
            facts,
            locks,
            order: moment.order,
            is_constructing: is_constructor || (stage.is_constructing && call.is_on_this),
        };
        let place = stage.place(step);
        let Some(to) = self.enter(entering, (stage.id, place), is_late) else {
            self.tell_publications_of(stage.id, call.method, binding);
            return;
        };
        let is_repeated = step.is_repeated || call.is_repeated;
        self.record.calls.push(Calls { from: stage.id, to, is_repeated });
        let with_own: Vec<HeldLock>;
        let held = match &own {
            Some(own) => {
                with_own = moment.held.iter().chain([&own.lock]).cloned().collect();
                &with_own
            }
            None => &moment.held,
        };
        let invocation = Invocation { from: stage.id, place, to, callee: call.method, held };
        self.listeners.iter_mut().for_each(|listener| listener.invocation(invocation));
    }

    /// What is known of a value.
    fn facts_of(
        &self,
        stage: &Stage<'_>,
        state: &State,
        value: program::ids::ValueId,
        expression: Option<&LockExpression>,
    ) -> Facts {
        let Some(body) = self.setting.program().body(stage.method) else { return Facts::default() };
        let given = parameter_number(body, value).map(|number| stage.facts(number));
        let definition = |value| body.definitions[value];
        let is_fresh =
            state.fresh.is_fresh(&definition, value, &|number| stage.facts(number).is_fresh);
        let local = LockExpression::new(Root::Local(value));
        let is_joined = !state.joined.is_empty()
            && [expression, Some(&local)]
                .into_iter()
                .flatten()
                .any(|name| state.joined.binary_search(name).is_ok());
        Facts {
            is_fresh,
            is_own_root: given.is_some_and(|facts| facts.is_own_root),
            is_joined: is_joined || given.is_some_and(|facts| facts.is_joined),
        }
    }

    fn access(
        &mut self,
        stage: &Stage<'_>,
        step: &ScriptStep,
        moment: &Moment,
        access: &AccessStep,
    ) {
        let Some(object) = access.through.subject.object(stage.objects) else { return };
        if let Slot::Field(field) = access.slot
            && !self.can_be(object, self.program().fields[field].class)
        {
            return;
        }
        let own = access
            .own
            .as_ref()
            .and_then(|own| self.context_lock(stage, &moment.locks, own))
            .map(|own| own.lock);
        let touched = Touched {
            through: access.through,
            object,
            slot: access.slot,
            kind: access.kind,
            is_atomic: access.is_atomic,
            value: access.value.and_then(|value| value.object(stage.objects)),
            written: access.written,
            own,
        };
        self.tell_access(stage, step, moment, &touched);
    }

    fn tell_access(
        &mut self,
        stage: &Stage<'_>,
        step: &ScriptStep,
        moment: &Moment,
        touched: &Touched,
    ) {
        let program = self.setting.program();
        let state = &stage.script.states[step.state];
        let Some(body) = program.body(stage.method) else { return };
        let name = touched.through.expression.as_ref();
        let number = touched.through.value.and_then(|value| parameter_number(body, value));
        let is_this = number == Some(0) && !program.methods[stage.method].is_static();
        let facts = match touched.through.value {
            Some(value) => self.facts_of(stage, state, value, name),
            None => Facts::default(),
        };
        let mut locks: Vec<(HeldLock, Relation)> = {
            let class_of_static = self.class_of_static();
            let related = moment.locks.iter();
            related.map(|held| (held.lock.clone(), held.relation(&class_of_static, name))).collect()
        };
        if let Some(own) = &touched.own {
            let relation = match own.object == Some(touched.object) {
                true => Relation::Inside(Vec::new()),
                false => Relation::Unknown,
            };
            locks.push((own.clone(), relation));
        }
        let value_is_fresh =
            touched.written.is_some_and(|value| self.facts_of(stage, state, value, None).is_fresh);
        let access = Access {
            context: stage.id,
            place: stage.place(step),
            object: touched.object,
            slot: touched.slot,
            kind: touched.kind,
            is_atomic: touched.is_atomic,
            base: Base {
                is_this,
                is_fresh: facts.is_fresh,
                is_own_root: facts.is_own_root,
                is_joined: facts.is_joined,
            },
            locks: &locks,
            order: &self.contexts.orders[moment.order],
            value: touched.value,
            value_is_fresh,
            is_in_constructor: is_this && stage.is_constructing,
        };
        self.listeners.iter_mut().for_each(|listener| listener.access(&access));
    }

    fn tell_acquisition(
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

    /// What a library method does to the contents of an object, as its class tells.
    fn contents_of(&mut self, object: ObjectId, method: MethodId) -> Rc<[ContentsEvent]> {
        if let Some(known) = self.contents.get(&(object, method)) {
            return known.clone();
        }
        let program = self.setting.program();
        let mut events: Vec<ContentsEvent> = Vec::new();
        for class in &self.setting.heap().objects[object].classes {
            let class = &program.classes[*class];
            if class.origin != Origin::Application {
                events.extend(contents_by_class(self.setting, &class.name, method));
            }
        }
        // The least safe class decides.
        events.sort_unstable();
        events.dedup_by_key(|event| event.kind);
        let events: Rc<[ContentsEvent]> = events.into();
        self.contents.insert((object, method), events.clone());
        events
    }

    fn finish(self) -> Executed {
        let heap = self.setting.heap();
        let contexts = self.contexts.keys.len();
        let mut allocated_at: TypedVec<ObjectId, Vec<Place>> =
            TypedVec::filled(Vec::new(), heap.objects.len());
        for made in &self.record.made {
            allocated_at[made.object].push(made.place);
        }
        for places in allocated_at.iter_mut() {
            places.sort_unstable();
            places.dedup();
        }
        Executed {
            methods: self.contexts.keys.iter().map(|key| key.method).collect(),
            threads: unique::threads(&self.record, contexts),
            called_from: self.called_from,
            counters: self.counters,
            lost_context: self.lost.into_iter().collect(),
            forgot_locks: unique::forgot_locks(&self.record, contexts),
            unique: unique::count(heap, &self.record, contexts),
            allocated_at,
        }
    }
}

/// A variable that is touched in a context.
struct Touched {
    through: Through,
    object: ObjectId,
    slot: Slot,
    kind: AccessKind,
    is_atomic: bool,
    value: Option<ObjectId>,
    written: Option<program::ids::ValueId>,
    own: Option<HeldLock>,
}

fn contents_by_class(setting: &Setting<'_>, class: &str, method: MethodId) -> Vec<ContentsEvent> {
    let declared = &setting.program().methods[method];
    let models = setting.program().models();
    let is_mere_look =
        !setting.has_access_order && models.writes_in_access_order(class, &declared.name);
    let row = models.find(class, &declared.name, &declared.descriptor);
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
            None => return events,
        };
        events.push(ContentsEvent { kind, is_atomic: false, is_synchronized });
    }
    events
}
