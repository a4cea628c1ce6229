//! How certain it is that threads share a variable, beyond that nothing rules it out.
//!
//! The heap shape graph merges objects that it cannot distinguish. In a large program one abstract object comes to
//! stand for hundreds of classes: everything that passes through some registry, and all that hangs on it. Every
//! thread touches it, and next to nothing of it is ever shared. So the way to an object matters: what a static field
//! or a thread keeps, in fields, is there for everybody who gets there; of what is in a collection, every thread may
//! have its own; and of what is reached through an imprecise object only, nothing is certain. There, somebody must
//! have thought of threads: the class takes a lock at most of the accesses, and forgot it here.
//!
//! Misses races on objects that are reached through an imprecise object only, and that nobody locks: these are graded
//! `low`.

use std::collections::BTreeSet;

use findings::Severity;
use program::ids::{MethodId, TypedVec};
use program::ir::{Definition, Operation};
use program::models::{ClassProperty, EntryThread};
use program::{ClassId, Program};

use super::variable::{Conflicts, Event, Pair, RaceFacts, Variable};
use crate::execution::{AccessKind, BaseReference, HeldLock, Relation};
use crate::heap::{
    AbstractObject, Heap, MeantForThreads, NameRoot, ObjectId, Place, Slot, ThreadId, ThreadKind,
};

/// How objects are known to more than one thread, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Visibility {
    /// Only fields lead to it, from static ones, or from what a framework gives to every thread.
    ToAll,
    /// It is the object of a thread, or only fields lead to it from there.
    ToThread,
    /// It is reached from there in other ways, or the library keeps it.
    Somehow,
    /// Only through imprecise objects.
    Imprecise,
}

/// What is known of the objects of a program.
pub(super) struct Sharing {
    known: TypedVec<ObjectId, Visibility>,
    /// Classes of the library whose objects are used by whoever asked for them.
    cursors: Vec<ClassId>,
    /// Whether all objects are distinguished well: then what threads appear to share, they share.
    is_precise: bool,
}

impl Sharing {
    pub(super) fn of(program: &Program, heap: &Heap, variables: &[Variable]) -> Sharing {
        let is_imprecise = imprecise(program, heap, variables);
        let is_precise = !is_imprecise.iter().any(|is_imprecise| *is_imprecise);
        let mut search = Search {
            heap,
            is_imprecise,
            known: TypedVec::filled(Visibility::Imprecise, heap.objects.len()),
        };
        let has_root = |id: &ObjectId, wanted: fn(&NameRoot) -> bool| {
            heap.objects[*id].roots.iter().any(wanted)
        };
        let given = |root: &NameRoot| matches!(root, NameRoot::Class(_) | NameRoot::Outside(_));
        let run = |root: &NameRoot| matches!(root, NameRoot::Task(_));
        let of_all = heap.objects.ids().filter(|id| has_root(id, given)).collect();
        search.keep(of_all, Visibility::ToAll);
        let is_run = |id: &ObjectId| heap.objects[*id].properties.is_thread || has_root(id, run);
        let of_threads = heap.objects.ids().filter(is_run).collect();
        search.keep(of_threads, Visibility::ToThread);
        let found = search.known.iter_with_ids().filter(|(_, known)| **known < Visibility::Somehow);
        let around = found.flat_map(|(id, _)| heap.objects[id].variables.values());
        let around = around.filter_map(|variable| variable.target);
        let unique = heap.objects.iter_with_ids().filter(|(_, it)| it.properties.is_unique);
        let kept = |root: &NameRoot| matches!(root, NameRoot::Library(_));
        let by_library = heap.objects.ids().filter(|id| has_root(id, kept));
        let somehow = around.chain(unique.map(|(id, _)| id)).chain(by_library).collect();
        search.follow(somehow);
        let cursors = program
            .models()
            .classes_that_are(ClassProperty::Cursor)
            .filter_map(|name| program.class_named(name))
            .collect();
        Sharing { known: search.known, cursors, is_precise }
    }

    /// How severe a conflict of a variable can be.
    pub(super) fn at_most(
        &self,
        race_facts: &RaceFacts<'_>,
        variable: &Variable,
        conflicts: &Conflicts,
        pair: &Pair,
    ) -> Severity {
        let known = self.known[variable.object];
        let has_all_locks = |group: usize| {
            conflicts.groups[group].iter().any(|at| variable.events[*at].has_all_locks)
        };
        let is_certain = has_all_locks(pair.first) && has_all_locks(pair.second);
        // An object that all threads can reach is seldom guarded by the lock of a distant object.
        if !is_certain && known != Visibility::ToAll {
            return Severity::Low;
        }
        if is_perhaps_one_thread(race_facts, variable, conflicts, pair) {
            return Severity::Low;
        }
        if is_perhaps_earlier(race_facts, pair) {
            return Severity::Low;
        }
        if let Some(severity) = of_callers(race_facts, variable, conflicts, pair) {
            return severity;
        }
        if self.is_precise {
            return Severity::High;
        }
        if self.is_cursor(race_facts.execution.context.program, variable) {
            return Severity::Low;
        }
        let threads = pair.threads;
        let object = &race_facts.execution.heap.objects[variable.object];
        // Threads of one kind have an object each, unless there is only one.
        let is_one = threads.0 != threads.1 || object.properties.is_unique;
        match known {
            Visibility::ToAll => Severity::High,
            Visibility::ToThread if is_one => Severity::High,
            // What a thread was given, others may have been given as well.
            Visibility::ToThread if is_given(race_facts, object, threads.0) => Severity::Medium,
            Visibility::Somehow if is_one && is_mostly_locked(race_facts, variable, true) => {
                Severity::Medium
            }
            Visibility::Imprecise if is_mostly_locked(race_facts, variable, false) => {
                Severity::Medium
            }
            Visibility::ToThread | Visibility::Somehow | Visibility::Imprecise => Severity::Low,
        }
    }

    /// Whether a variable is the state of an iterator. A loop over a collection of which little is known may go
    /// through any iterator of the program; but the loop has made it, and keeps it to itself.
    fn is_cursor(&self, program: &Program, variable: &Variable) -> bool {
        let Slot::Field(field) = variable.slot else { return false };
        let class = program.fields[field].class;
        self.cursors.iter().any(|cursor| program.hierarchy.is_subtype(class, *cursor))
    }
}

/// Whether one access is made by the main thread, and the other by a lambda of which it is not known where it is started:
/// what main does before, the lambda finds done.
fn is_perhaps_earlier(race_facts: &RaceFacts<'_>, pair: &Pair) -> bool {
    let program = race_facts.execution.context.program;
    let thread = |id: ThreadId| &race_facts.execution.heap.threads[id];
    let is_main = |id: ThreadId| thread(id).kind == ThreadKind::Main;
    let is_lambda = |id: ThreadId| {
        let thread = thread(id);
        let is_body =
            |entry: &MethodId| program.lambdas.iter().any(|it| it.implementation == *entry);
        thread.kind == ThreadKind::Entry(EntryThread::Pool) && thread.entries.iter().all(is_body)
    };
    let (one, other) = pair.threads;
    (is_main(one) && is_lambda(other)) || (is_main(other) && is_lambda(one))
}

/// How severe a conflict can be that callers of a library have with each other, or with the threads of the library;
/// none if there is no reason to doubt. That a class takes locks somewhere does not mean that it is for many threads in
/// everything: what is set once, before it is used, needs no lock. What a class guards in one place, or counts, or keeps in a
/// collection, is not set up.
fn of_callers(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> Option<Severity> {
    let execution = race_facts.execution;
    let is_caller = |thread: ThreadId| execution.heap.threads[thread].kind == ThreadKind::Public;
    let callers = [pair.threads.0, pair.threads.1].map(is_caller);
    if callers == [false, false] {
        return None;
    }
    let program = execution.context.program;
    let used: Vec<&Event> = variable
        .events
        .iter()
        .filter(|event| !event.is_in_constructor && !event.base.is_fresh)
        .collect();
    let writes = || used.iter().filter(|event| event.kind == AccessKind::Write);
    let is_locked = |event: &&&Event| !race_facts.records.locks[event.locks].is_empty();
    let is_setting = |group: usize| {
        let mut events = conflicts.groups[group].iter().map(|at| &variable.events[*at]);
        events
            .all(|event| event.kind == AccessKind::Write && stores_parameter(program, event.place))
    };
    let is_field = matches!(variable.slot, Slot::Field(_));
    if is_field && (is_setting(pair.first) || is_setting(pair.second)) {
        return Some(Severity::Low);
    }
    if writes().any(|event| is_locked(&event)) || is_mostly_locked(race_facts, variable, true) {
        return None;
    }
    if callers != [true, true] {
        return None;
    }
    let field = match variable.slot {
        Slot::Field(field) => Some(field),
        Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => {
            race_facts.holder(variable.object)
        }
    };
    let class = field.map(|field| program.fields[field].class);
    let entered = execution.heap.entered_classes.iter();
    let reason = entered
        .filter(|(entered, _)| {
            class.is_some_and(|class| program.hierarchy.is_subtype(**entered, class))
        })
        .map(|(_, reason)| *reason)
        .max();
    let reads = |method: MethodId| {
        used.iter().any(|it| it.kind == AccessKind::Read && it.place.method == method)
    };
    let is_updated = writes().any(|event| reads(event.place.method));
    let is_changed = variable.slot == Slot::Contents || is_updated;
    match reason {
        Some(MeantForThreads::IsComponent | MeantForThreads::SaysThreadSafe) if is_changed => None,
        // What an object of another class keeps, that class says.
        Some(_) if is_changed => Some(Severity::Medium),
        Some(_) | None => Some(Severity::Low),
    }
}

/// Whether a place writes what its method was given, as setters do.
fn stores_parameter(program: &Program, place: Place) -> bool {
    let Some(body) = program.body(place.method) else { return false };
    let mut instructions = body.instructions();
    instructions.any(|instruction| match &instruction.operation {
        Operation::PutField { value, .. } | Operation::PutStatic { value, .. }
            if instruction.offset == place.offset =>
        {
            let value = body.without_casts(*value);
            matches!(body.definitions[value], Definition::Parameter(_))
        }
        _ => false,
    })
}

/// Whether both accesses are made by threads on what they were started with, of which each may have its own: that the
/// same object is run by several is not seen.
fn is_perhaps_one_thread(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> bool {
    let properties = &race_facts.execution.heap.objects[variable.object].properties;
    let base = |group: usize| {
        let event = conflicts.groups[group].first().map(|at| &variable.events[*at]);
        event.map(|event| event.base).unwrap_or_default()
    };
    let (one, other) = (base(pair.first), base(pair.second));
    let is_own = |base: BaseReference| base.is_own_root || base.is_perhaps_own_root;
    properties.is_perhaps_thread_specific
        || (is_own(one) && is_own(other))
        || (is_own(one) && other.is_joined)
        || (is_own(other) && one.is_joined)
}

/// Whether an object was made elsewhere than in the source file of a thread, which makes what it needs in its
/// constructor.
fn is_given(race_facts: &RaceFacts<'_>, object: &AbstractObject, thread: ThreadId) -> bool {
    let program = race_facts.execution.context.program;
    let source = |method: MethodId| top_level(program, program.methods[method].class);
    let entries = &race_facts.execution.heap.threads[thread].entries;
    let is_own = |place: &Place| entries.iter().any(|it| source(*it) == source(place.method));
    !object.properties.is_thread
        && object.properties.host.is_none()
        && !object.allocated_at.iter().all(is_own)
}

/// Goes from object to object.
struct Search<'a> {
    heap: &'a Heap,
    is_imprecise: TypedVec<ObjectId, bool>,
    known: TypedVec<ObjectId, Visibility>,
}

impl Search<'_> {
    /// Some objects are known so, and what nobody else keeps: nothing but fields of such objects refers to it. An
    /// object that others refer to as well is one of several that the graph takes for one.
    fn keep(&mut self, beginnings: Vec<ObjectId>, known: Visibility) {
        for object in beginnings {
            if !self.is_imprecise[object] {
                self.known[object] = self.known[object].min(known);
            }
        }
        for _ in 0..MOST_FIELDS {
            let is_kept = |id: &ObjectId| {
                let referred_by = &self.heap.objects[*id].referred_by;
                !self.is_imprecise[*id]
                    && self.known[*id] > known
                    && !referred_by.is_empty()
                    && referred_by.iter().all(|(owner, slot)| {
                        is_kept(*slot) && (*owner == *id || self.known[*owner] <= known)
                    })
            };
            let kept: Vec<ObjectId> = self.heap.objects.ids().filter(is_kept).collect();
            for object in kept {
                self.known[object] = known;
            }
        }
    }

    /// Some objects are known somehow, and everything that they lead to.
    fn follow(&mut self, mut todo: Vec<ObjectId>) {
        while let Some(object) = todo.pop() {
            if !self.is_imprecise[object] && self.known[object] > Visibility::Somehow {
                self.known[object] = Visibility::Somehow;
                let variables = self.heap.objects[object].variables.values();
                todo.extend(variables.filter_map(|variable| variable.target));
            }
        }
    }
}

/// Fields that are followed from what is certainly shared.
const MOST_FIELDS: usize = 3;

/// Whether a variable keeps one object for whoever knows the object that it belongs to; of elements there are many.
fn is_kept(slot: Slot) -> bool {
    match slot {
        Slot::Field(_) | Slot::Captured(_) | Slot::Task => true,
        Slot::Element | Slot::Contents => false,
    }
}

/// Classes whose fields one object can have, at most, to be taken for something that the program knows as one.
const MOST_DECLARING: usize = 16;

/// The objects that stand for too much: for too many classes, or for something that is used as too many. The latter are
/// made where the program is not seen to make them, by reflection or in generated code.
fn imprecise(program: &Program, heap: &Heap, variables: &[Variable]) -> TypedVec<ObjectId, bool> {
    let mut declaring: BTreeSet<(ObjectId, ClassId)> = BTreeSet::new();
    for variable in variables {
        if let Slot::Field(field) = variable.slot {
            declaring.insert((variable.object, program.fields[field].class));
        }
    }
    let mut counts: TypedVec<ObjectId, usize> = TypedVec::filled(0, heap.objects.len());
    for (object, _) in declaring {
        counts[object] += 1;
    }
    let objects = heap.objects.iter_with_ids();
    objects.map(|(id, object)| object.is_imprecise() || counts[id] > MOST_DECLARING).collect()
}

/// Of the places that access a variable, so many in three must hold a lock that was taken for it.
const LOCKED_OF_THREE: usize = 2;

/// Whether most places that access a variable hold a lock that was taken for it: the one of the object or of what it
/// keeps, or one that is taken in the source file of the variable. What a distant caller holds was not taken for this
/// variable, unless it is the lock of an object that keeps this one, as far as that is certain.
fn is_mostly_locked(race_facts: &RaceFacts<'_>, variable: &Variable, may_be_around: bool) -> bool {
    let program = race_facts.execution.context.program;
    let declared = match variable.slot {
        Slot::Field(field) => Some(field),
        Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => {
            race_facts.holder(variable.object)
        }
    };
    let source = declared.map(|field| top_level(program, program.fields[field].class));
    let is_taken_for = |(held, relation): &(HeldLock, Relation)| {
        let taken_in = || top_level(program, program.methods[held.taken_at.method].class);
        let is_related = match relation {
            Relation::Inside(_) => true,
            Relation::Around(_) => may_be_around,
            Relation::Apart | Relation::Unknown => false,
        };
        is_related || source.is_some_and(|it| it == taken_in())
    };
    let (mut locked, mut bare) = (BTreeSet::new(), BTreeSet::new());
    for event in variable.events.iter().filter(|it| !it.is_in_constructor && !it.base.is_fresh) {
        let is_locked = race_facts.records.locks[event.locks].iter().any(is_taken_for);
        if is_locked { &mut locked } else { &mut bare }.insert(event.place);
    }
    locked.len() * (3 - LOCKED_OF_THREE) >= bare.len() * LOCKED_OF_THREE && !locked.is_empty()
}

/// The name of the class that a class is nested in, or its own.
fn top_level(program: &Program, class: ClassId) -> &str {
    let name = &*program.classes[class].name;
    name.split('$').next().unwrap_or(name)
}
