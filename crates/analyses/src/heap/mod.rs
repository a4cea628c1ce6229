//! The heap shape graph and the abstract threads (dissertation, chapter 3): a model of all objects that more than one
//! thread may come to know, and of all threads.
//!
//! Property: if two variables of the program may refer to one object at run time, and several threads may know that
//! object, then both refer to one abstract object.

mod alias_sets;
mod complete;
mod describe;
mod finish;
mod graph;
mod library;
pub(crate) mod loops;
mod method;
mod object;
mod properties;
mod public_api;
mod shape;
mod slot;
mod start;
mod task_objects;
mod thread;

use std::collections::BTreeMap;

use program::ids::{ClassId, MethodId, TypedVec};
use program::models::EntryThread;
use program::{Components, Immutables, Program, summaries};
use rustc_hash::FxHashMap;

use crate::Context;

pub use describe::slot_label;
pub use object::{AbstractObject, ObjectId, ObjectProperties, Variable};
pub use public_api::MeantForThreads;
pub use shape::{Edge, Node, NodeFlags, NodeId, Shape};
pub use slot::{LONGEST_NAME, Name, NameRoot, Slot};
pub use task_objects::TaskSharing;
pub(crate) use thread::propagate_thread_sets;
pub use thread::{AbstractThread, SerializedBy, ThreadId, ThreadKind, ThreadSet};

/// A place in the code: a method and a bytecode offset. [`program::Program::site`] makes it one for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The method.
    pub method: MethodId,
    /// The bytecode offset.
    pub offset: u32,
}

/// How much context the reference analysis keeps.
#[derive(Clone, Debug)]
pub struct HeapLimits {
    /// Nodes of a shape that callers get to know, at most, or a few more; the nearest come first.
    pub most_exposed: usize,
    /// How far from a parameter or result callers get to know the shape.
    pub most_steps: usize,
    /// A call with more targets than this sees only the ends of each of them.
    pub signature_only_above: usize,
    /// How often the methods of a recursion are gone through.
    pub most_rounds: usize,
}

impl HeapLimits {
    /// What is left when the budget is used up: callers know the ends of a shape.
    pub const COARSE: HeapLimits =
        HeapLimits { most_exposed: 8, most_steps: 1, signature_only_above: 1, most_rounds: 1 };
}

impl Default for HeapLimits {
    fn default() -> HeapLimits {
        HeapLimits { most_exposed: 32, most_steps: 3, signature_only_above: 6, most_rounds: 2 }
    }
}

/// The heap shape graph, and what it was made from.
pub struct Heap {
    /// The abstract objects.
    pub objects: TypedVec<ObjectId, AbstractObject>,
    /// The abstract threads.
    pub threads: TypedVec<ThreadId, AbstractThread>,
    /// The shape of every method with a body; empty shapes for the others.
    pub shapes: TypedVec<MethodId, Shape>,
    /// The methods that some thread may get to.
    pub is_reached: TypedVec<MethodId, bool>,
    /// The classes that are entered from outside although nobody named them, and why.
    pub entered_classes: BTreeMap<ClassId, MeantForThreads>,
    /// Calls with more targets than this were not followed into what the arguments lead to.
    pub most_followed_targets: usize,
    names: FxHashMap<Name, ObjectId>,
    /// Distinguishes objects of one class when they are described.
    numbers: TypedVec<ObjectId, Option<usize>>,
}

impl Heap {
    /// Analyses a program.
    #[must_use]
    pub fn build(context: &Context<'_>, limits: &HeapLimits) -> Heap {
        let Context { program, graph, .. } = *context;
        let immutables = Immutables::of(program);
        let bodies = finish::TaskBodies::of(program);
        let count = program.methods.len();
        let shapes =
            summaries::solve_in_rounds(graph, count, limits.most_rounds, |method, known| {
                let Some(body) = program.body(method) else { return Shape::default() };
                let shape_of = |callee: MethodId| known.of(callee);
                let limits = if (context.exhausted)() { &HeapLimits::COARSE } else { limits };
                let inputs = method::ShapeInputs {
                    program,
                    graph,
                    immutables: &immutables,
                    limits,
                    bodies: &bodies,
                    shape_of: &shape_of,
                };
                method::shape(inputs, body)
            });
        let components = Components::of(program);
        // What a list calls safe must be so whoever calls it.
        let enters_public_classes = context.config.watch_list.is_none();
        let mut beginnings = start::find(&start::StartInputs {
            program,
            graph,
            shapes: &shapes,
            named: &context.config.entry_points,
            components: &components,
            enters_public_classes,
        });
        let task_objects =
            task_objects::TaskObjects::of(program, graph, &bodies, &beginnings.is_reached);
        for thread in &mut beginnings.threads {
            let is_started_by_program =
                thread.kind == ThreadKind::Run && thread.serialized_by.is_none();
            thread.root_sharing = start::root_sharing(program, thread, &|body| {
                task_objects.of_body(program, &bodies, body)
            });
            // Whoever starts it may be a helper that others call.
            if is_started_by_program && thread.root_sharing == TaskSharing::Several {
                thread.is_unique = false;
            }
        }
        let mut heap = graph::build(program, graph, &components, shapes, beginnings);
        heap.most_followed_targets = limits.signature_only_above;
        heap
    }

    /// The abstract threads that run an object, or what it wraps, or what it was given to run.
    #[must_use]
    pub fn threads_of(&self, object: ObjectId) -> ThreadSet {
        let mut found = ThreadSet::default();
        let wrapped = self.target(object, Slot::Task);
        for object in [Some(object), wrapped].into_iter().flatten() {
            let known = &self.objects[object];
            for (id, thread) in self.threads.iter_with_ids() {
                let is_run = thread.kind == ThreadKind::Run
                    && (thread.root == Some(object)
                        || known.runs.iter().any(|body| thread.entries.contains(body)));
                if is_run {
                    found.insert(id);
                }
            }
        }
        found
    }

    /// The objects that the parameters of a thread's first method are; none where nobody else knows them.
    #[must_use]
    pub fn entry_binding(
        &self,
        program: &Program,
        thread: ThreadId,
        entry: MethodId,
    ) -> Vec<Option<ObjectId>> {
        // A thread with several first methods has a receiver for each class.
        let root = graph::receiver(program, &self.threads[thread], entry)
            .and_then(|name| self.named(&Name::new(name)));
        let count = self.shapes[entry].parameters.len();
        let captured = graph::captured(program, entry);
        let passed = graph::passed_in(program, &self.threads[thread], entry);
        let of = |number: usize| match captured {
            Some(captured) if number < captured => {
                self.target(root?, Slot::Captured(number as u16))
            }
            None if number == 0 && !program.methods[entry].is_static() => root,
            Some(_) | None if passed.contains(&number) => root,
            Some(_) | None => None,
        };
        (0..count).map(of).collect()
    }

    /// The object with this name, if the program has one.
    #[must_use]
    pub fn named(&self, name: &Name) -> Option<ObjectId> {
        self.names.get(name).copied()
    }

    /// The object that a node of a method's shape is in every context; none if that depends on the caller, or if only
    /// the method knows it.
    #[must_use]
    pub fn fixed(&self, node: &Node) -> Option<ObjectId> {
        node.names.first().and_then(|name| self.named(name))
    }

    /// What a variable of an object refers to.
    #[must_use]
    pub fn target(&self, object: ObjectId, slot: Slot) -> Option<ObjectId> {
        self.objects[object].variables.get(&slot)?.target
    }

    /// Whether two threads at run time that belong to these abstract threads can be different ones, so that what they
    /// do can interleave.
    #[must_use]
    pub fn can_interleave(&self, one: ThreadId, other: ThreadId) -> bool {
        let (first, second) = (&self.threads[one], &self.threads[other]);
        let take_turns =
            first.serialized_by.is_some() && first.serialized_by == second.serialized_by;
        first.is_user_thread()
            && second.is_user_thread()
            && !take_turns
            && !is_set_up_before(first.kind, second.kind)
            && !is_set_up_before(second.kind, first.kind)
            && (one != other || !first.is_unique)
    }

    /// Whether several threads at run time can be behind this set.
    #[must_use]
    pub fn is_several(&self, threads: &ThreadSet) -> bool {
        threads.iter().any(|one| threads.iter().any(|other| self.can_interleave(one, other)))
    }
}

/// Whether a container does the one before and after the other: it initialises its parts before requests come in, and
/// takes them down when all have been answered.
fn is_set_up_before(one: ThreadKind, other: ThreadKind) -> bool {
    one == ThreadKind::Entry(EntryThread::Container)
        && matches!(other, ThreadKind::Entry(EntryThread::Request) | ThreadKind::Public)
}
