//! The heap shape graph of the whole program, from the shapes of its methods.
//!
//! Nodes with the same name are one abstract object. What threads begin with is bound to their first method.

use std::collections::{BTreeMap, BTreeSet};

use classes::descriptor::parameter_descriptors;
use program::callgraph::CallGraph;
use program::ids::{ClassId, Id, MethodId, TypedVec};
use program::models::{EntryThread, ReceiverSharing};
use program::{Components, Program, threads};
use rustc_hash::FxHashMap;

use super::alias_sets::AliasSets;
use super::thread::propagate_thread_sets;
use super::{
    AbstractObject, AbstractThread, Heap, Name, NameRoot, NodeId, ObjectId, Shape, Slot, ThreadId,
    ThreadKind, ThreadSet,
};
use crate::sorted::insert;

/// The graph under construction.
pub(super) struct GraphBuilder<'a> {
    program: &'a Program,
    sets: AliasSets,
    names: FxHashMap<Name, NodeId>,
}

impl<'a> GraphBuilder<'a> {
    pub(super) fn new(program: &'a Program) -> GraphBuilder<'a> {
        GraphBuilder { program, sets: AliasSets::default(), names: FxHashMap::default() }
    }

    /// The object with a name; those on the way are made as well.
    fn named(&mut self, name: Name) -> NodeId {
        if let Some(node) = self.names.get(&name) {
            return self.sets.find(*node);
        }
        if name.root == NameRoot::BeyondDepth {
            let node = self.sets.create();
            self.sets.name(node, name);
            self.names.insert(name, node);
            return node;
        }
        let mut at = Name::new(name.root);
        let mut node = match self.names.get(&at) {
            Some(node) => *node,
            None => {
                let node = self.sets.create();
                self.sets.name(node, at);
                self.names.insert(at, node);
                node
            }
        };
        for slot in name.path() {
            node = self.sets.target(node, slot);
            at = at.then(slot);
            self.names.insert(at, node);
        }
        self.sets.find(node)
    }

    /// Adds what a method does to named objects.
    pub(super) fn add(&mut self, shape: &Shape) {
        let mut placed: Vec<Option<NodeId>> = vec![None; shape.nodes.len()];
        for (at, node) in shape.nodes.iter().enumerate() {
            let mut names = node.names.iter();
            let Some(first) = names.next() else { continue };
            let object = self.named(*first);
            for name in names {
                let other = self.named(*name);
                self.sets.unify(object, other);
            }
            placed[at] = Some(object);
        }
        self.connect(shape, &placed);
    }

    /// Adds everything that a thread can do from its first method, whose parameters are these objects.
    fn add_entry(
        &mut self,
        shape: &Shape,
        parameters: &[Option<NodeId>],
        keeps_names: bool,
    ) -> Vec<Option<NodeId>> {
        let mut placed: Vec<Option<NodeId>> = vec![None; shape.nodes.len()];
        let mut todo = Vec::new();
        for (node, object) in shape.parameters.iter().zip(parameters) {
            if let (Some(node), Some(object)) = (node, object) {
                todo.push((*node, *object));
            }
        }
        while let Some((node, object)) = todo.pop() {
            match placed[node.index()] {
                Some(known) => self.sets.unify(known, object),
                None => {
                    placed[node.index()] = Some(object);
                    // What a lambda has captured, it may hand to the next thread, and so does an object that is
                    // called from outside. Other tasks may do so with themselves, too; but there, nearly every task
                    // of a program would become one.
                    for name in shape[node].names.iter().filter(|_| keeps_names) {
                        let known = self.named(*name);
                        self.sets.unify(object, known);
                    }
                    for edge in &shape[node].edges {
                        if let Some(target) = edge.target {
                            let object = self.sets.target(object, edge.slot);
                            todo.push((target, object));
                        }
                    }
                }
            }
        }
        self.connect(shape, &placed);
        placed
    }

    /// Adds what objects that come from outside refer to: what their constructors make, and the components that a
    /// container puts into their fields. An object that is called by several names is one.
    fn wire(
        &mut self,
        shapes: &TypedVec<MethodId, Shape>,
        components: &Components,
        threads: &[AbstractThread],
    ) {
        let program = self.program;
        let mut todo: Vec<ClassId> = Vec::new();
        let mut bodies: BTreeMap<ClassId, Vec<MethodId>> = BTreeMap::new();
        for thread in threads {
            for entry in &thread.entries {
                match receiver(program, thread, *entry) {
                    Some(NameRoot::Outside(class)) => todo.push(class),
                    Some(NameRoot::Task(body)) if captured(program, body).is_none() => {
                        bodies.entry(program.methods[body].class).or_default().push(body);
                    }
                    _ => {}
                }
            }
        }
        let mut wired: BTreeSet<ClassId> = BTreeSet::new();
        while let Some(class) = todo.pop() {
            if !wired.insert(class) {
                continue;
            }
            let object = self.named(Name::new(NameRoot::Outside(class)));
            for method in &program.classes[class].methods {
                let is_constructor = &*program.methods[*method].name == "<init>";
                if is_constructor && program.body(*method).is_some() {
                    let shape = &shapes[*method];
                    let mut parameters = vec![None; shape.parameters.len()];
                    parameters[0] = Some(object);
                    self.add_entry(shape, &parameters, true);
                }
            }
            for body in bodies.get(&class).into_iter().flatten() {
                let task = self.named(Name::new(NameRoot::Task(*body)));
                self.sets.unify(object, task);
            }
            for field in program.instance_fields(class) {
                for component in components.in_field(program, field) {
                    let kept = self.sets.target(object, Slot::Field(field));
                    let component_object = self.named(Name::new(NameRoot::Outside(component)));
                    self.sets.unify(kept, component_object);
                    todo.push(component);
                }
            }
        }
        // What a class inherits, callers call on its own objects.
        for class in &wired {
            for above in program.hierarchy.superclasses(*class).skip(1) {
                if wired.contains(&above) {
                    let object = self.named(Name::new(NameRoot::Outside(*class)));
                    let inherited = self.named(Name::new(NameRoot::Outside(above)));
                    self.sets.unify(object, inherited);
                }
            }
        }
    }

    fn connect(&mut self, shape: &Shape, placed: &[Option<NodeId>]) {
        for (node, object) in shape.nodes.iter().zip(placed) {
            let Some(object) = *object else { continue };
            for class in &node.classes {
                self.sets.class(object, *class);
            }
            for lambda in &node.lambdas {
                self.sets.lambda(object, *lambda);
            }
            let known = self.sets.node(object);
            known.flags.add(node.flags);
            for body in &node.runs {
                insert(&mut known.runs, *body);
            }
            for edge in &node.edges {
                self.sets.touch(object, edge.slot, edge.is_read, edge.is_written);
                let target = edge.target.and_then(|target| placed[target.index()]);
                if let Some(target) = target {
                    let known = self.sets.target(object, edge.slot);
                    self.sets.unify(known, target);
                }
            }
        }
    }
}

/// What the receiver of a thread's first method is, if threads share it.
pub(super) fn receiver(
    program: &Program,
    thread: &AbstractThread,
    entry: MethodId,
) -> Option<NameRoot> {
    let declared = &program.methods[entry];
    match thread.kind {
        ThreadKind::Run => Some(NameRoot::Task(entry)),
        ThreadKind::Main | ThreadKind::Init => None,
        _ if declared.is_static() => None,
        // A constructor has an object of its own.
        ThreadKind::Client | ThreadKind::Public if declared.is_initializer() => None,
        ThreadKind::Client | ThreadKind::Public => Some(NameRoot::Outside(declared.class)),
        ThreadKind::Entry(_) if threads::is_shared_by_user(program, entry) => {
            Some(NameRoot::Outside(declared.class))
        }
        // A task that nobody is seen to start: who knows how many run the same object.
        ThreadKind::Entry(EntryThread::Own | EntryThread::Pool | EntryThread::Timer) => {
            Some(NameRoot::Task(entry))
        }
        ThreadKind::Entry(kind) => {
            let receivers = threads::receivers(program, entry, kind);
            let is_shared = receivers.into_iter().any(|receiver| match receiver {
                ReceiverSharing::Shared | ReceiverSharing::Unknown => true,
                ReceiverSharing::PerCall | ReceiverSharing::NoReceiver => false,
            });
            is_shared.then_some(NameRoot::Outside(declared.class))
        }
    }
}

/// Which threads get to each method.
fn threads_by_method(
    program: &Program,
    graph: &CallGraph,
    threads: &[AbstractThread],
) -> TypedVec<MethodId, ThreadSet> {
    let mut begin: Vec<ThreadSet> = vec![ThreadSet::default(); program.methods.len()];
    for (number, thread) in threads.iter().enumerate() {
        for entry in &thread.entries {
            begin[entry.index()].insert(ThreadId::new(number));
        }
    }
    let callees_of = |method: MethodId| graph.callees(method).iter().map(|it| it.index()).collect();
    let callees: Vec<Vec<usize>> = program.methods.ids().map(callees_of).collect();
    TypedVec::from(propagate_thread_sets(&callees, begin))
}

/// Makes the graph.
pub(super) fn build(
    program: &Program,
    graph: &CallGraph,
    components: &Components,
    shapes: TypedVec<MethodId, Shape>,
    beginnings: super::start::FoundThreads,
) -> Heap {
    let super::start::FoundThreads { mut threads, is_reached, entered_classes } = beginnings;
    let mut builder = GraphBuilder::new(program);
    let reached: Vec<MethodId> =
        program.methods_with_bodies().filter(|method| is_reached[*method]).collect();
    for method in &reached {
        builder.add(&shapes[*method]);
    }
    let mut entered: Vec<(ThreadId, MethodId, Vec<Option<NodeId>>)> = Vec::new();
    let mut roots: Vec<Option<NodeId>> = vec![None; threads.len()];
    for (number, thread) in threads.iter().enumerate() {
        for entry in &thread.entries {
            let parameters = parameters(&mut builder, &shapes, thread, *entry);
            let receiver = receiver(program, thread, *entry);
            let keeps_names = captured(program, *entry).is_some()
                || matches!(receiver, Some(NameRoot::Outside(_)));
            if let Some(root) = receiver {
                let root = builder.named(Name::new(root));
                // An object that all calls share is no thread's own.
                if !threads::is_shared_by_user(program, *entry) {
                    roots[number].get_or_insert(root);
                }
            }
            let placed = builder.add_entry(&shapes[*entry], &parameters, keeps_names);
            entered.push((ThreadId::new(number), *entry, placed));
        }
    }
    builder.wire(&shapes, components, &threads);
    let GraphBuilder { mut sets, names, .. } = builder;
    let mut numbers: Vec<Option<ObjectId>> = vec![None; sets.len()];
    let mut objects: TypedVec<ObjectId, AbstractObject> = TypedVec::new();
    let mut owners: Vec<NodeId> = Vec::new();
    for at in 0..numbers.len() {
        let node = NodeId::new(at);
        if sets.find(node) == node {
            numbers[at] = Some(objects.push(AbstractObject::default()));
            owners.push(node);
        }
    }
    let number = |sets: &mut AliasSets, node: NodeId| {
        numbers[sets.find(node).index()].expect("every set that stands for itself has a number")
    };
    for (object, owner) in owners.into_iter().enumerate() {
        let node = sets.node(owner).clone();
        let object = ObjectId::new(object);
        let mut made = AbstractObject {
            roots: node
                .names
                .iter()
                .filter(|name| name.path().next().is_none())
                .map(|name| name.root)
                .collect(),
            classes: node.classes,
            lambdas: node.lambdas,
            runs: node.runs,
            ..AbstractObject::default()
        };
        made.properties.is_locked = node.flags.is_locked;
        made.properties.escapes_object = node.flags.escapes_object;
        for edge in node.edges {
            let target = edge.target.map(|target| number(&mut sets, target));
            made.variables.entry(edge.slot).or_default().target = target;
        }
        objects[object] = made;
    }
    for (at, root) in roots.iter().enumerate() {
        threads[at].root = root.map(|root| number(&mut sets, root));
    }
    let mut by_name: FxHashMap<Name, ObjectId> = FxHashMap::default();
    for (name, node) in names {
        by_name.insert(name, number(&mut sets, node));
    }
    let mut heap = Heap {
        objects,
        threads: TypedVec::from(threads),
        shapes,
        names: by_name,
        is_reached,
        entered_classes,
        most_followed_targets: usize::MAX,
        numbers: TypedVec::new(),
    };
    let threads_of = threads_by_method(program, graph, heap.threads.as_slice());
    for method in reached {
        let placed: Vec<Option<ObjectId>> =
            heap.shapes[method].nodes.iter().map(|node| heap.fixed(node)).collect();
        note_accesses(&mut heap.objects, &heap.shapes[method], &placed, &threads_of[method]);
    }
    for (thread, entry, placed) in entered {
        let placed: Vec<Option<ObjectId>> =
            placed.into_iter().map(|node| node.map(|node| number(&mut sets, node))).collect();
        note_accesses(&mut heap.objects, &heap.shapes[entry], &placed, &ThreadSet::of(thread));
    }
    super::properties::compute(program, graph, &mut heap);
    super::complete::complete(program, &mut heap);
    heap.numbers = super::describe::numbers(&heap.objects);
    heap
}

/// The objects that the parameters of a thread's first method are.
fn parameters(
    builder: &mut GraphBuilder<'_>,
    shapes: &TypedVec<MethodId, Shape>,
    thread: &AbstractThread,
    entry: MethodId,
) -> Vec<Option<NodeId>> {
    let program = builder.program;
    let count = shapes[entry].parameters.len();
    let passed = passed_in(program, thread, entry);
    let Some(root) = receiver(program, thread, entry) else { return vec![None; count] };
    let captured = captured(program, entry);
    let object = builder.named(Name::new(root));
    let mut parameters = Vec::with_capacity(count);
    for number in 0..count {
        parameters.push(match captured {
            Some(captured) if number < captured => {
                let slot = Slot::Captured(number as u16);
                Some(builder.sets.target(object, slot))
            }
            None if number == 0 && !program.methods[entry].is_static() => Some(object),
            Some(_) | None => passed.contains(&number).then_some(object),
        });
    }
    parameters
}

/// The parameters for which callers of a public method may pass what they call other methods on: those of its own
/// class.
pub(super) fn passed_in(program: &Program, thread: &AbstractThread, entry: MethodId) -> Vec<usize> {
    let declared = &program.methods[entry];
    if !matches!(thread.kind, ThreadKind::Public | ThreadKind::Client) || declared.is_static() {
        return Vec::new();
    }
    let types = parameter_descriptors(&declared.descriptor);
    let is_own = |descriptor: &str| program.class_of_descriptor(descriptor) == Some(declared.class);
    types.enumerate().filter(|(_, it)| is_own(it)).map(|(number, _)| number + 1).collect()
}

/// How many of a method's parameters a lambda captured, if the method is the body of one.
pub(super) fn captured(program: &Program, method: MethodId) -> Option<usize> {
    let lambdas = program.lambdas.iter();
    lambdas.filter(|lambda| lambda.implementation == method).map(|lambda| lambda.captured).max()
}

fn note_accesses(
    objects: &mut TypedVec<ObjectId, AbstractObject>,
    shape: &Shape,
    placed: &[Option<ObjectId>],
    threads: &ThreadSet,
) {
    for (node, object) in shape.nodes.iter().zip(placed) {
        let Some(object) = *object else { continue };
        if node.flags.is_allocated {
            objects[object].creators.extend(threads);
        }
        for edge in &node.edges {
            if !edge.is_read && !edge.is_written {
                continue;
            }
            let variable = objects[object].variables.entry(edge.slot).or_default();
            if edge.is_read {
                variable.readers.extend(threads);
            }
            if edge.is_written {
                variable.writers.extend(threads);
            }
        }
    }
}
