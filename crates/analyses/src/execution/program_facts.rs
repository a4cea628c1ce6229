//! The facts about the program that the symbolic execution starts from.

use std::sync::OnceLock;

use program::Program;
use program::ids::{ClassId, Id, MethodId, TypedVec};
use program::ir::{Body, Operation};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::binding::bindable;
use super::fresh::ArgumentEffects;
use super::lock_views::LockViews;
use super::order::{self, BaseFacts, OrderEffect};
use crate::Context;
use crate::heap::{
    AbstractThread, Heap, NameRoot, Node, ObjectId, Place, Shape, Slot, ThreadId, ThreadKind,
    ThreadSet,
};
use crate::locks::aliases::Aliases;
use crate::locks::expression::{LockExpression, returned_expressions};
use crate::locks::held::{self, LockChanges};

/// Owns the facts that [`BaseFacts`] borrows.
pub(super) struct BaseFactStorage {
    lock_views: LockViews,
    started_at: FxHashMap<Place, ThreadSet>,
    returned: TypedVec<MethodId, Option<LockExpression>>,
}

impl BaseFactStorage {
    pub(super) fn of(context: &Context<'_>, heap: &Heap) -> BaseFactStorage {
        let mut started_at: FxHashMap<Place, ThreadSet> = FxHashMap::default();
        for (id, thread) in heap.threads.iter_with_ids() {
            for place in &thread.started_at {
                started_at.entry(*place).or_default().insert(id);
            }
        }
        BaseFactStorage {
            lock_views: LockViews::of(context.program),
            started_at,
            returned: returned_expressions(context.program, context.graph),
        }
    }

    /// What the order of all methods is computed from.
    pub(super) fn base_facts<'a>(
        &'a self,
        context: &'a Context<'_>,
        heap: &'a Heap,
    ) -> BaseFacts<'a> {
        BaseFacts {
            program: context.program,
            graph: context.graph,
            heap,
            lock_views: &self.lock_views,
            started_at: &self.started_at,
            returned: &self.returned,
        }
    }
}

/// Everything that is known of the program, whatever the context.
pub(super) struct ProgramFacts<'a> {
    pub(super) base_facts: BaseFacts<'a>,
    aliases: Aliases,
    /// What methods do to the locks of their callers.
    pub(super) changes: TypedVec<MethodId, LockChanges>,
    /// What methods add to the order.
    pub(super) order_effects: TypedVec<MethodId, OrderEffect>,
    argument_effects_by_method: TypedVec<MethodId, OnceLock<ArgumentEffects>>,
    /// The objects whose events are reported.
    pub(super) is_reported: TypedVec<ObjectId, bool>,
    /// The methods that, themselves or in what they call, touch objects that are the same in every context.
    pub(super) touches_fixed: TypedVec<MethodId, bool>,
    /// The methods that cause no event in any context.
    pub(super) causes_no_event: TypedVec<MethodId, bool>,
    /// The classes that the program makes objects of, in code that some thread gets to or in other code.
    allocated: FxHashSet<ClassId>,
    /// Whether the program makes maps that a look puts into another order.
    pub(super) has_access_order: bool,
    /// The objects that something outside the program makes, as far as they are known to be.
    is_from_outside: TypedVec<ObjectId, bool>,
    /// The threads that run an object, or what it wraps.
    threads_of: TypedVec<ObjectId, ThreadSet>,
    /// The threads that each thread may start, and those that these may start, and so on.
    starts: TypedVec<ThreadId, ThreadSet>,
}

impl<'a> ProgramFacts<'a> {
    pub(super) fn new(base_facts: BaseFacts<'a>) -> ProgramFacts<'a> {
        let BaseFacts { program, graph, heap, .. } = base_facts;
        let aliases = Aliases::of(program);
        let changes =
            held::lock_changes(held::LockFlowInputs { program, graph, aliases: &aliases });
        let order_effects = order::order_effects(base_facts);
        let is_reported: TypedVec<ObjectId, bool> = heap
            .objects
            .iter()
            .map(|object| {
                let properties = &object.properties;
                properties.is_shared || properties.is_locked || properties.is_thread
            })
            .collect();
        let count = program.methods.len();
        let made = AllocatedClasses::of(program);
        let touches_fixed = touches_fixed(&base_facts, &is_reported);
        let causes_no_event: Vec<bool> = (0..count)
            .into_par_iter()
            .map(|method| {
                let method = MethodId::new(method);
                !controls_threads(&order_effects[method])
                    && !touches_fixed[method]
                    && causes_no_event(heap, &heap.shapes[method], &is_reported)
            })
            .collect();
        let mut program_facts = ProgramFacts {
            base_facts,
            aliases,
            changes,
            order_effects,
            argument_effects_by_method: (0..count).map(|_| OnceLock::new()).collect(),
            is_reported,
            touches_fixed,
            causes_no_event: TypedVec::from(causes_no_event),
            allocated: made.classes,
            has_access_order: made.has_access_order,
            is_from_outside: from_outside(program, heap),
            threads_of: heap.objects.ids().map(|object| heap.threads_of(object)).collect(),
            starts: TypedVec::new(),
        };
        program_facts.starts = program_facts.find_starts();
        program_facts
    }

    pub(super) fn program(&self) -> &'a Program {
        self.base_facts.program
    }

    pub(super) fn heap(&self) -> &'a Heap {
        self.base_facts.heap
    }

    /// What a callee does to its arguments.
    pub(super) fn argument_effects(&self, method: MethodId) -> &ArgumentEffects {
        self.argument_effects_by_method[method].get_or_init(|| {
            let (program, graph) = (self.base_facts.program, self.base_facts.graph);
            ArgumentEffects::of(program, graph, method, &self.heap().shapes[method])
        })
    }

    /// Whether two names of a method are of one lock.
    pub(super) fn are_same_lock(
        &self,
        method: MethodId,
        one: &LockExpression,
        other: &LockExpression,
    ) -> bool {
        one == other || self.aliases.are_same_lock(self.program(), method, one, other)
    }

    /// Whether an abstract object may stand for instances of a class: references that the heap shape graph takes for
    /// one need not be of one class, and calls through an interface go to more classes than the receiver has. What
    /// the program makes no instances of comes from elsewhere (reflection, frameworks) and may be anywhere; and what
    /// comes from outside may be anything.
    pub(super) fn can_be(&self, object: ObjectId, class: ClassId) -> bool {
        let known = &self.heap().objects[object];
        let hierarchy = &self.program().hierarchy;
        known.properties.is_class
            || !known.lambdas.is_empty()
            || self.is_from_outside[object]
            || known.classes.iter().any(|made| hierarchy.is_subtype(*made, class))
            || !hierarchy.cone(class).iter().any(|sub| self.allocated.contains(sub))
    }

    /// The threads that run an object.
    pub(super) fn threads_of(&self, object: ObjectId) -> &ThreadSet {
        &self.threads_of[object]
    }

    /// The threads that may run once these have been started.
    pub(super) fn started_with(&self, threads: &ThreadSet) -> ThreadSet {
        let mut all = threads.clone();
        for thread in threads.iter() {
            all.extend(&self.starts[thread]);
        }
        all
    }

    /// The threads that may run whatever the initial thread does: those that come from outside, and what they
    /// start.
    pub(super) fn running_independently(&self) -> ThreadSet {
        let threads = self.heap().threads.iter_with_ids();
        let outside: ThreadSet = threads
            .filter(|(_, thread)| match thread.kind {
                ThreadKind::Entry(_)
                | ThreadKind::Client
                | ThreadKind::Public
                | ThreadKind::Init => true,
                ThreadKind::Main | ThreadKind::Run => false,
            })
            .map(|(id, _)| id)
            .collect();
        self.started_with(&outside)
    }

    fn find_starts(&self) -> TypedVec<ThreadId, ThreadSet> {
        let heap = self.heap();
        // What a method adds has what it calls in it.
        let mut starts: TypedVec<ThreadId, ThreadSet> = heap
            .threads
            .iter()
            .map(|thread| {
                let mut found = ThreadSet::default();
                for entry in &thread.entries {
                    found.extend(&self.order_effects[*entry].started_threads);
                }
                found
            })
            .collect();
        loop {
            let mut grew = false;
            for thread in heap.threads.ids() {
                let mut all = starts[thread].clone();
                for started in starts[thread].iter() {
                    all.extend(&starts[started]);
                }
                grew |= starts[thread].extend(&all);
            }
            if !grew {
                return starts;
            }
        }
    }
}

/// Whether a method starts or joins threads, itself or in what it calls.
pub(super) fn controls_threads(order_effect: &OrderEffect) -> bool {
    !order_effect.started.is_empty()
        || !order_effect.started_threads.is_empty()
        || !order_effect.joined.is_empty()
}

/// Whether something is done to the objects of an alias set that is reported.
pub(super) fn is_touched(node: &Node) -> bool {
    let happens = &node.flags;
    happens.is_allocated
        || happens.is_locked
        || happens.is_started
        || node.edges.iter().any(|edge| edge.is_read || edge.is_written)
}

/// Which methods touch objects that they know by name, or call others that do. Shapes describe to callers only
/// what they pass on.
fn touches_fixed(
    base_facts: &BaseFacts<'_>,
    is_reported: &TypedVec<ObjectId, bool>,
) -> TypedVec<MethodId, bool> {
    let BaseFacts { graph, heap, .. } = *base_facts;
    let mut touches = TypedVec::filled(false, heap.shapes.len());
    let touches_itself = |shape: &Shape| {
        shape.nodes.iter().any(|node| {
            is_touched(node) && heap.fixed(node).is_some_and(|object| is_reported[object])
        })
    };
    let mut open: Vec<MethodId> = Vec::new();
    for (method, shape) in heap.shapes.iter_with_ids() {
        if touches_itself(shape) {
            touches[method] = true;
            open.push(method);
        }
    }
    while let Some(method) = open.pop() {
        for caller in graph.callers(method) {
            if !std::mem::replace(&mut touches[*caller], true) {
                open.push(*caller);
            }
        }
    }
    touches
}

/// Whether no alias set of a method that may be shared is touched.
fn causes_no_event(heap: &Heap, shape: &Shape, is_reported: &TypedVec<ObjectId, bool>) -> bool {
    let bindable = bindable(shape);
    shape.nodes.iter().enumerate().all(|(at, node)| {
        let may_matter = match heap.fixed(node) {
            Some(object) => is_reported[object],
            None => bindable[at],
        };
        !is_touched(node) || !may_matter
    })
}

/// Classes that a field of a task can refer to for it to be assumed that it refers to any of them.
const MOST_KINDS: usize = 4;

/// What is given to entry points, and what can be got from there, as far as the program does not say what that is. So
/// is what a task knows that nobody is seen to start, as far as the types of its fields say what that is: a library
/// is made and used by code that is not here.
fn from_outside(program: &Program, heap: &Heap) -> TypedVec<ObjectId, bool> {
    let mut is_from_outside: TypedVec<ObjectId, bool> = TypedVec::filled(false, heap.objects.len());
    let is_root = |root: &NameRoot| matches!(root, NameRoot::Outside(_));
    let roots = heap.objects.iter_with_ids().filter(|(_, object)| object.roots.iter().any(is_root));
    let mut todo: Vec<ObjectId> = roots.map(|(id, _)| id).collect();
    let is_entry = |thread: &&AbstractThread| matches!(thread.kind, ThreadKind::Entry(_));
    for task in heap.threads.iter().filter(is_entry).filter_map(|thread| thread.root) {
        is_from_outside[task] = true;
        let variables = heap.objects[task].variables.iter();
        let typed = variables.filter(|(slot, _)| is_typed(program, **slot));
        todo.extend(typed.filter_map(|(_, variable)| variable.target));
    }
    while let Some(object) = todo.pop() {
        let is_made_here = !heap.objects[object].classes.is_empty()
            && !heap.objects[object].roots.iter().any(is_root);
        if is_made_here || std::mem::replace(&mut is_from_outside[object], true) {
            continue;
        }
        todo.extend(heap.objects[object].variables.values().filter_map(|it| it.target));
    }
    is_from_outside
}

/// Whether the type of a field says what it refers to.
fn is_typed(program: &Program, slot: Slot) -> bool {
    let Slot::Field(field) = slot else { return false };
    program
        .class_of_field(field)
        .is_some_and(|class| program.hierarchy.concrete_subtypes(class).count() <= MOST_KINDS)
}

/// What the program makes, wherever it does.
#[derive(Default)]
struct AllocatedClasses {
    classes: FxHashSet<ClassId>,
    has_access_order: bool,
}

impl AllocatedClasses {
    fn of(program: &Program) -> AllocatedClasses {
        let mut made = AllocatedClasses::default();
        let bodies = program.methods_with_bodies().filter_map(|method| program.body(method));
        for instruction in bodies.flat_map(Body::instructions) {
            match &instruction.operation {
                Operation::New(class) => {
                    made.classes.insert(*class);
                }
                Operation::Call(call) => {
                    let called = &program.methods[call.method];
                    let class = &program.classes[called.class].name;
                    made.has_access_order |=
                        program.models().has_access_order(class, &called.descriptor);
                }
                _ => {}
            }
        }
        made
    }
}
