//! The properties of abstract objects (dissertation, 3.3.4 to 3.3.6 and 3.4.3): shared, escaping, object-specific,
//! thread-specific. Uniqueness needs the symbolic execution.
//!
//! Deviations from the dissertation:
//! 1. The access-based algorithm for thread-specific objects asks the code (is a field of a thread only touched through
//!    `this`, in methods that only the thread and its constructors run?) and the object-specific property, instead
//!    of the events of the symbolic execution: it is needed before that.

use std::collections::{BTreeMap, BTreeSet};

use program::Program;
use program::callgraph::{CallGraph, CallKind};
use program::ids::{ClassId, FieldId, MethodId};
use program::ir::Operation;

use super::{Heap, NameRoot, ObjectId, Slot, TaskSharing, ThreadId, ThreadKind, ThreadSet};

pub(super) fn compute(program: &Program, graph: &CallGraph, heap: &mut Heap) {
    add_back_references(heap);
    for object in heap.objects.ids() {
        let roots = &heap.objects[object].roots;
        let is_class = roots.iter().any(|root| matches!(root, NameRoot::Class(_)));
        let is_thread = heap.threads.iter().any(|thread| thread.root == Some(object));
        let is_shared = is_shared(heap, object);
        let properties = &mut heap.objects[object].properties;
        (properties.is_class, properties.is_thread, properties.is_shared) =
            (is_class, is_thread, is_shared);
        // Whatever is in the graph can be reached from a root: it is known outside of the method that made it.
        properties.escapes = !is_class;
        properties.is_unique = is_class;
    }
    mark_hosts(heap);
    mark_thread_specific(program, graph, heap);
}

fn add_back_references(heap: &mut Heap) {
    for object in heap.objects.ids() {
        let targets: Vec<(Slot, ObjectId)> = heap.objects[object]
            .variables
            .iter()
            .filter_map(|(slot, variable)| Some((*slot, variable.target?)))
            .collect();
        for (slot, target) in targets {
            heap.objects[target].referred_by.push((object, slot));
        }
    }
}

/// Several threads may touch one of its variables, and one of them writes; or several threads may lock it.
fn is_shared(heap: &Heap, object: ObjectId) -> bool {
    let object = &heap.objects[object];
    let mut touching = ThreadSet::default();
    let mut written = false;
    for variable in object.variables.values() {
        touching.extend(&variable.readers);
        touching.extend(&variable.writers);
        written |= !variable.writers.is_empty();
    }
    (written || object.properties.is_locked) && heap.is_several(&touching)
        || object.properties.is_locked && heap.is_several(&object.creators)
}

/// An object that never leaves the methods of the one object that refers to it belongs to it.
fn mark_hosts(heap: &mut Heap) {
    for object in heap.objects.ids() {
        let known = &heap.objects[object];
        let mut hosts: Vec<ObjectId> = known.referred_by.iter().map(|(host, _)| *host).collect();
        hosts.dedup();
        let host = match hosts[..] {
            [host] if host != object => Some(host),
            // A chain of its own kind belongs to whoever has the first link.
            [one, other] if one == object => Some(other),
            [one, other] if other == object => Some(one),
            _ => None,
        };
        let is_confined = known.roots.is_empty()
            && !known.properties.escapes_object
            && !known.properties.is_class;
        heap.objects[object].properties.host =
            host.filter(|host| is_confined && !heap.objects[*host].properties.is_class);
    }
}

fn mark_thread_specific(program: &Program, graph: &CallGraph, heap: &mut Heap) {
    let safe_fields = safe_fields(program, graph, heap);
    let certain = thread_specific(heap, &safe_fields, TaskSharing::Own);
    let perhaps = thread_specific(heap, &safe_fields, TaskSharing::Unknown);
    for object in perhaps {
        heap.objects[object].properties.is_perhaps_thread_specific = true;
    }
    for object in certain {
        heap.objects[object].properties.is_thread_specific = true;
    }
}

/// The objects that belong to one thread, if threads run an object of their own wherever it is this likely.
fn thread_specific(
    heap: &Heap,
    safe_fields: &BTreeSet<FieldId>,
    at_most: TaskSharing,
) -> BTreeSet<ObjectId> {
    let threads: Vec<(ThreadId, ObjectId)> = heap
        .threads
        .iter_with_ids()
        .filter(|(_, thread)| thread.kind == ThreadKind::Run && thread.root_sharing <= at_most)
        .filter_map(|(id, thread)| Some((id, thread.root?)))
        .collect();
    let mut specific: BTreeSet<ObjectId> = BTreeSet::new();
    for (thread, root) in threads {
        if heap.objects[root].referred_by.is_empty() {
            confined(heap, thread, root, &mut specific);
        }
        for (slot, variable) in &heap.objects[root].variables {
            let (Slot::Field(field), Some(target)) = (slot, variable.target) else { continue };
            if safe_fields.contains(field) && heap.objects[target].properties.host == Some(root) {
                specific.insert(target);
            }
        }
    }
    // What belongs to an object of a thread is the thread's as well.
    let mut grew = true;
    while grew {
        grew = false;
        for object in heap.objects.ids() {
            let host = heap.objects[object].properties.host;
            if host.is_some_and(|host| specific.contains(&host)) && specific.insert(object) {
                grew = true;
            }
        }
    }
    specific
}

/// Objects that only one thread creates and touches, and that only its root or other such objects refer to; nobody
/// refers to the root.
fn confined(heap: &Heap, thread: ThreadId, root: ObjectId, found: &mut BTreeSet<ObjectId>) {
    let only = ThreadSet::of(thread);
    let is_own = |threads: &ThreadSet| threads.iter().all(|one| only.contains(one));
    let mut inside: BTreeSet<ObjectId> = BTreeSet::new();
    let mut candidates: Vec<ObjectId> = Vec::new();
    let mut todo = vec![root];
    while let Some(object) = todo.pop() {
        for variable in heap.objects[object].variables.values() {
            let Some(target) = variable.target else { continue };
            let known = &heap.objects[target];
            let touched = known.variables.values();
            let is_candidate = target != root
                && known.roots.is_empty()
                && !known.creators.is_empty()
                && is_own(&known.creators)
                && touched.clone().all(|it| is_own(&it.readers) && is_own(&it.writers));
            if is_candidate && inside.insert(target) {
                candidates.push(target);
                todo.push(target);
            }
        }
    }
    loop {
        let leaves = candidates.iter().position(|object| {
            let mut owners = heap.objects[*object].referred_by.iter().map(|(owner, _)| *owner);
            !owners.all(|owner| owner == root || inside.contains(&owner))
        });
        let Some(leaves) = leaves else { break };
        inside.remove(&candidates.swap_remove(leaves));
    }
    found.extend(inside);
}

/// The fields of classes of threads that are only touched through `this`, in constructors, in the method that the
/// thread begins with, and in private methods that only those call on `this`. Nestmates may touch private fields too.
fn safe_fields(program: &Program, graph: &CallGraph, heap: &Heap) -> BTreeSet<FieldId> {
    let entries: Vec<MethodId> =
        heap.threads.iter().flat_map(|thread| thread.entries.iter().copied()).collect();
    let mut safe_methods: BTreeMap<ClassId, BTreeSet<MethodId>> = BTreeMap::new();
    for thread in heap.threads.iter().filter(|thread| thread.kind == ThreadKind::Run) {
        for entry in &thread.entries {
            let class = program.methods[*entry].class;
            let methods = safe_methods_of(program, graph, heap, *entry, &entries);
            match safe_methods.get_mut(&class) {
                // A class with two bodies has two kinds of threads.
                Some(known) => known.retain(|method| methods.contains(method)),
                None => {
                    safe_methods.insert(class, methods);
                }
            }
        }
    }
    let is_candidate = |field: FieldId| {
        let declared = &program.fields[field];
        declared.is_private() && !declared.is_static()
    };
    let fields = safe_methods.keys().flat_map(|class| program.classes[*class].fields.iter());
    let mut safe: BTreeSet<FieldId> =
        fields.copied().filter(|field| is_candidate(*field)).collect();
    for method in program.methods_with_bodies() {
        let Some(body) = program.body(method) else { continue };
        for instruction in body.instructions() {
            let (object, field) = match &instruction.operation {
                Operation::GetField { object, field }
                | Operation::PutField { object, field, .. } => (*object, *field),
                _ => continue,
            };
            let methods = safe_methods.get(&program.fields[field].class);
            let is_safe = methods.is_some_and(|methods| methods.contains(&method))
                && body.is_receiver(program, object);
            if !is_safe {
                safe.remove(&field);
            }
        }
    }
    safe
}

/// The methods of a thread's class that only the thread itself runs, and constructors.
fn safe_methods_of(
    program: &Program,
    graph: &CallGraph,
    heap: &Heap,
    entry: MethodId,
    entries: &[MethodId],
) -> BTreeSet<MethodId> {
    // Whoever calls the body of a thread like any other method is another thread.
    if !graph.callers(entry).is_empty() {
        return BTreeSet::new();
    }
    let class = program.methods[entry].class;
    let is_kept = |method: MethodId| {
        let declared = &program.methods[method];
        let starts_itself = || {
            let shape = &heap.shapes[method];
            let this = shape.parameters.first().copied().flatten();
            this.is_some_and(|this| shape[this].flags.is_started || !shape[this].names.is_empty())
        };
        method == entry
            || (&*declared.name == "<init>" && !starts_itself())
            || (declared.is_private() && !declared.is_static() && !entries.contains(&method))
    };
    let methods = program.classes[class].methods.iter().copied();
    let mut safe: BTreeSet<MethodId> = methods.filter(|method| is_kept(*method)).collect();
    loop {
        let is_called_elsewhere = |method: &MethodId| {
            let declared = &program.methods[*method];
            let callers = graph.callers(*method);
            *method != entry
                && &*declared.name != "<init>"
                && (callers.is_empty()
                    || !callers.iter().all(|caller| {
                        safe.contains(caller) && calls_on_this(program, graph, *caller, *method)
                    }))
        };
        let Some(unsafe_method) = safe.iter().copied().find(is_called_elsewhere) else {
            return safe;
        };
        safe.remove(&unsafe_method);
    }
}

/// Whether a method calls another one on its own `this` only.
fn calls_on_this(program: &Program, graph: &CallGraph, caller: MethodId, callee: MethodId) -> bool {
    let Some(body) = program.body(caller) else { return false };
    body.instructions().all(|instruction| {
        let mut targets = graph.targets(caller, instruction.offset).iter();
        let Some(target) = targets.find(|target| target.method == callee) else { return true };
        let receiver = match &instruction.operation {
            Operation::Call(call) => call.arguments.first(),
            _ => None,
        };
        target.call_kind == CallKind::Direct
            && receiver.is_some_and(|receiver| body.is_receiver(program, *receiver))
    })
}
