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

use findings::{GradeRule, grade};
use program::callgraph::CallGraph;
use program::ids::{BlockId, MethodId, TypedVec, ValueId};
use program::ir::{Body, Call, Definition, DynamicTarget, Instruction, Operation};
use program::models::{ClassProperty, Coordinator, Effect, EntryThread, WaitKind};
use program::{ClassId, FieldId, Origin, Program, threads};

use super::harm;
use super::locking::{is_mostly_locked, top_level};
use super::variable::{Conflicts, Event, Pair, RaceFacts, Variable};
use crate::Context;
use crate::execution::{AccessKind, BaseReference, ExecutionFacts};
use crate::heap::{
    AbstractObject, AbstractThread, Heap, MeantForThreads, NameRoot, ObjectId, Place, Slot,
    TaskSharing, ThreadId, ThreadKind,
};
use crate::locks::is_same_object;

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
    /// For every thread whether it meets others at a barrier.
    meets_at_barrier: TypedVec<ThreadId, bool>,
    /// What barriers were given to run when all have arrived, sorted.
    barrier_actions: Vec<MethodId>,
    /// For every object whether somebody takes it out of a collection to use it, or what alone leads to it.
    is_lent: TypedVec<ObjectId, bool>,
}

impl Sharing {
    pub(super) fn of(execution: &ExecutionFacts<'_>, variables: &[Variable]) -> Sharing {
        let (heap, Context { program, graph, .. }) = (execution.heap, execution.context);
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
        let of_class = |root: &NameRoot| matches!(root, NameRoot::Class(_));
        let given = |root: &NameRoot| matches!(root, NameRoot::Outside(_));
        let run = |root: &NameRoot| matches!(root, NameRoot::Task(_) | NameRoot::Outside(_));
        // What somebody outside runs is there for everybody only if that somebody shares it.
        let is_shared = |id: &ObjectId| {
            let mut threads = heap.threads.iter().filter(|thread| thread.root == Some(*id));
            threads.all(|thread| thread.root_sharing == TaskSharing::Several)
        };
        let is_of_all =
            |id: &ObjectId| has_root(id, of_class) || (has_root(id, given) && is_shared(id));
        let of_all = heap.objects.ids().filter(is_of_all).collect();
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
        let meets = |thread: &AbstractThread| meets_at_barrier(program, graph, thread);
        let meets_at_barrier = heap.threads.iter().map(meets).collect();
        let barrier_actions = barrier_actions(program);
        let is_lent = lent(heap, variables);
        Sharing {
            known: search.known,
            cursors,
            is_precise,
            meets_at_barrier,
            barrier_actions,
            is_lent,
        }
    }

    /// How severe a conflict of a variable can be.
    pub(super) fn at_most(
        &self,
        race_facts: &RaceFacts<'_>,
        variable: &Variable,
        conflicts: &Conflicts,
        pair: &Pair,
    ) -> GradeRule {
        let known = self.known[variable.object];
        let has_all_locks = |group: usize| {
            conflicts.groups[group].iter().any(|at| variable.events[*at].has_all_locks)
        };
        let is_certain = has_all_locks(pair.first) && has_all_locks(pair.second);
        // An object that all threads can reach is seldom guarded by the lock of a distant object.
        if !is_certain && known != Visibility::ToAll {
            return grade::UNKNOWN_LOCKS;
        }
        if is_of_library(race_facts, variable) {
            return grade::SELDOM_SHARED;
        }
        if is_perhaps_one_thread(race_facts, variable, conflicts, pair)
            || is_run_by_callers(race_facts, variable, conflicts, pair)
            || is_own_thread(race_facts, variable, pair)
        {
            return grade::OWN_TASK;
        }
        if is_handed_over(variable, conflicts, pair) {
            return grade::HANDED_OVER;
        }
        if self.is_barrier_action(race_facts, variable, conflicts, pair) {
            return grade::BARRIER_ACTION;
        }
        if takes_turns(race_facts, variable, conflicts, pair) {
            return grade::TURNS;
        }
        if is_perhaps_earlier(race_facts, pair) {
            return grade::PERHAPS_BEFORE;
        }
        if let Some(rule) = of_callers(race_facts, variable, conflicts, pair) {
            return rule;
        }
        if !self.is_precise && self.is_cursor(race_facts.execution.context.program, variable) {
            return grade::CURSOR;
        }
        let of_object = self.of_object(race_facts, variable, conflicts, pair);
        let of_harm = if is_seen_to_run(race_facts, pair)
            || harm::does_harm(race_facts, variable, conflicts, pair)
        {
            grade::NO_COMMON_LOCK
        } else {
            grade::SEEN_LATE
        };
        let of_order = if is_before_start(race_facts, variable, conflicts, pair) {
            grade::BEFORE_START
        } else if self.meets_at_barrier[pair.threads.0] && self.meets_at_barrier[pair.threads.1] {
            grade::BARRIER_PHASES
        } else {
            grade::NO_COMMON_LOCK
        };
        // Of threads that the program does not have nobody knows what they do with what they were lent.
        let of_loan = match self.is_lent[variable.object] && !is_seen_to_run(race_facts, pair) {
            true => grade::LENT,
            false => grade::NO_COMMON_LOCK,
        };
        of_object.or_lower(of_order).or_lower(of_harm).or_lower(of_loan)
    }

    /// Whether one access is made by what a barrier runs when all have arrived, and the other by a thread that comes to a
    /// barrier again and again: that one waits meanwhile.
    fn is_barrier_action(
        &self,
        race_facts: &RaceFacts<'_>,
        variable: &Variable,
        conflicts: &Conflicts,
        pair: &Pair,
    ) -> bool {
        let program = race_facts.execution.context.program;
        let is_run_by_barrier = |place: &Place| {
            called_at(program, *place).is_some_and(|(_, call)| {
                let class = &program.classes[program.methods[call.method].class].name;
                program.models().coordinator(class) == Some(Coordinator::Barrier)
            })
        };
        let is_action = |group: usize| {
            let events = conflicts.groups[group].iter().map(|at| &variable.events[*at]);
            events.take(MOST_ACCESSES).all(|event| {
                let calls = race_facts.execution.call_chain(event.context);
                calls.iter().any(is_run_by_barrier)
            })
        };
        let (one, other) = pair.threads;
        let is_action = |group: usize, thread: ThreadId| {
            let entries = &race_facts.execution.heap.threads[thread].entries;
            let is_known = |entry: &MethodId| self.barrier_actions.binary_search(entry).is_ok();
            is_action(group) || (!entries.is_empty() && entries.iter().all(is_known))
        };
        let (first, second) = (is_action(pair.first, one), is_action(pair.second, other));
        match (first, second) {
            (true, true) => true,
            (true, false) => self.meets_at_barrier[other],
            (false, true) => self.meets_at_barrier[one],
            (false, false) => false,
        }
    }

    /// How certain it is that two threads mean the same object.
    fn of_object(
        &self,
        race_facts: &RaceFacts<'_>,
        variable: &Variable,
        conflicts: &Conflicts,
        pair: &Pair,
    ) -> GradeRule {
        let heap = race_facts.execution.heap;
        let object = &heap.objects[variable.object];
        let is_unique = object.properties.is_unique || object.properties.is_class;
        let thread = pair.threads.0;
        // Threads of one kind have an object each, unless there is only one.
        let is_one = || is_unique || !is_one_kind(race_facts, variable, conflicts, pair);
        match self.known[variable.object] {
            Visibility::ToAll => grade::NO_COMMON_LOCK,
            _ if self.is_precise && is_unique => grade::NO_COMMON_LOCK,
            Visibility::ToThread if is_one() => grade::NO_COMMON_LOCK,
            _ if self.is_precise && is_given_to_several(race_facts, object, thread) => {
                grade::NO_COMMON_LOCK
            }
            _ if self.is_precise => grade::OWN_OBJECTS,
            // What a thread was given, others may have been given as well.
            Visibility::ToThread if is_given(race_facts, object, thread) => grade::OWN_OBJECTS,
            Visibility::Somehow if is_one() && is_mostly_locked(race_facts, variable, true) => {
                grade::OWN_OBJECTS
            }
            Visibility::Imprecise if is_mostly_locked(race_facts, variable, false) => {
                grade::OWN_OBJECTS
            }
            Visibility::ToThread | Visibility::Somehow | Visibility::Imprecise => {
                grade::SELDOM_SHARED
            }
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

/// Whether a variable is what is in a collection that a class of the library keeps for everybody: it never changes, as
/// `Collections.EMPTY_LIST`, or the library takes care of it.
fn is_of_library(race_facts: &RaceFacts<'_>, variable: &Variable) -> bool {
    let program = race_facts.execution.context.program;
    let is_kept_by_library = |field: FieldId| {
        let field = &program.fields[field];
        field.is_static() && program.classes[field.class].origin != Origin::Application
    };
    variable.slot == Slot::Contents
        && race_facts.holder(variable.object).is_some_and(is_kept_by_library)
}

/// Whether both threads are seen to run, or known to: neither is a caller of a library, or a worker of a pool that is given a
/// task somewhere else.
fn is_seen_to_run(race_facts: &RaceFacts<'_>, pair: &Pair) -> bool {
    let is_seen = |thread: ThreadId| match race_facts.execution.heap.threads[thread].kind {
        ThreadKind::Public | ThreadKind::Entry(EntryThread::Own | EntryThread::Pool) => false,
        ThreadKind::Main
        | ThreadKind::Run
        | ThreadKind::Entry(_)
        | ThreadKind::Client
        | ThreadKind::Init => true,
    };
    is_seen(pair.threads.0) && is_seen(pair.threads.1)
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
) -> Option<GradeRule> {
    let execution = race_facts.execution;
    let is_caller = |thread: ThreadId| execution.heap.threads[thread].kind == ThreadKind::Public;
    let callers = [pair.threads.0, pair.threads.1].map(is_caller);
    if callers == [false, false] {
        return None;
    }
    // Whoever calls the library is seldom there when its own tools run.
    let is_main = |thread: ThreadId| execution.heap.threads[thread].kind == ThreadKind::Main;
    let is_left_to_callers =
        callers == [true, true] || is_main(pair.threads.0) || is_main(pair.threads.1);
    let program = execution.context.program;
    let used: Vec<&Event> = variable
        .events
        .iter()
        .filter(|event| !event.is_in_constructor && !event.base.is_fresh)
        .collect();
    let writes = || used.iter().filter(|event| event.kind == AccessKind::Write);
    let is_locked = |event: &&&Event| !race_facts.records.locks[event.locks].is_empty();
    let is_setter =
        |event: &Event| event.kind == AccessKind::Write && stores_parameter(program, event.place);
    let is_setting =
        |group: usize| conflicts.groups[group].iter().all(|at| is_setter(&variable.events[*at]));
    // A property: callers alone set it, whether a setter does or whoever checks what was set.
    let is_public = |thread: ThreadId| execution.heap.threads[thread].kind == ThreadKind::Public;
    let is_property = || {
        writes().any(|event| is_setter(event))
            && writes().all(|event| event.threads.iter().all(is_public))
    };
    let is_field = matches!(variable.slot, Slot::Field(_));
    if is_field && (is_setting(pair.first) || is_setting(pair.second) || is_property()) {
        return Some(grade::SET_UP);
    }
    if !is_left_to_callers || is_mostly_locked(race_facts, variable, true) {
        return None;
    }
    let is_locked_somewhere = writes().any(|event| is_locked(&event));
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
    let is_changed = variable.slot == Slot::Contents || is_updated || is_locked_somewhere;
    match reason {
        Some(MeantForThreads::IsComponent | MeantForThreads::SaysThreadSafe) if is_changed => None,
        // What an object of another class keeps, that class says.
        Some(_) if is_changed => Some(grade::CALLERS_OF_LIBRARY),
        Some(_) | None => Some(grade::SET_UP),
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
            is_given_to_setter(program, place.method, body, *value)
        }
        _ => false,
    })
}

/// Whether a value is a parameter, or what a setter makes of one: checked, trimmed or converted.
fn is_given_to_setter(program: &Program, method: MethodId, body: &Body, value: ValueId) -> bool {
    let is_parameter = |value: ValueId| {
        matches!(body.definitions[body.without_casts(value)], Definition::Parameter(_))
    };
    if is_parameter(value) {
        return true;
    }
    let made = body.defining_instruction(body.without_casts(value)).map(|it| &it.operation);
    let is_this = |value: ValueId| {
        !program.methods[method].is_static()
            && matches!(body.definitions[body.without_casts(value)], Definition::Parameter(0))
    };
    match made {
        Some(Operation::Call(call)) if program.methods[method].name.starts_with("set") => {
            call.arguments.iter().any(|it| is_parameter(*it) && !is_this(*it))
        }
        _ => false,
    }
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

/// Whether both accesses are made by the body of a task, and callers of a library run it, or one does beside the thread of the
/// task: a task is run once, or by one thread after the other, unless somebody is seen to start it twice.
fn is_run_by_callers(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> bool {
    let Some(field) = field_of_object(race_facts, variable) else { return false };
    let execution = race_facts.execution;
    let program = execution.context.program;
    let is_body = |method: MethodId| {
        let class = program.methods[method].class;
        program.hierarchy.is_subtype(class, program.fields[field].class)
            && threads::task_methods_of(program, class).contains(&method)
    };
    let is_run = |group: usize, thread: ThreadId| {
        let events = conflicts.groups[group].iter().map(|at| &variable.events[*at]);
        let kind = execution.heap.threads[thread].kind;
        events.take(MOST_ACCESSES).all(|event| {
            let mut ways = execution.call_chain(event.context);
            ways.push(event.place);
            let begins_there = ways.first().is_some_and(|first| is_body(first.method));
            let is_passed_on = |at: &[Place]| {
                is_body(at[1].method) && is_call_of_any_task(execution.context, at[0])
            };
            match kind {
                ThreadKind::Public => begins_there || ways.windows(2).any(is_passed_on),
                ThreadKind::Run => begins_there,
                ThreadKind::Main | ThreadKind::Entry(_) | ThreadKind::Client | ThreadKind::Init => {
                    false
                }
            }
        })
    };
    let (one, other) = pair.threads;
    let is_caller = |thread: ThreadId| execution.heap.threads[thread].kind == ThreadKind::Public;
    (is_caller(one) || is_caller(other)) && is_run(pair.first, one) && is_run(pair.second, other)
}

/// The field that a variable is, if each object has one of its own.
fn field_of_object(race_facts: &RaceFacts<'_>, variable: &Variable) -> Option<FieldId> {
    let Slot::Field(field) = variable.slot else { return None };
    let program = race_facts.execution.context.program;
    (!program.fields[field].is_static()).then_some(field)
}

/// Whether a call runs whatever task it is given: which one, only the types say.
fn is_call_of_any_task(context: &Context<'_>, place: Place) -> bool {
    let program = context.program;
    let is_declared_by_library = || {
        called_at(program, place).is_some_and(|(_, call)| {
            let class = program.methods[call.method].class;
            program.classes[class].origin != Origin::Application
        })
    };
    context.graph.targets(place.method, place.offset).len() > 1 && is_declared_by_library()
}

/// Whether both accesses are made by the thread that the object has made for itself, once, in its constructor.
fn is_own_thread(race_facts: &RaceFacts<'_>, variable: &Variable, pair: &Pair) -> bool {
    let Some(field) = field_of_object(race_facts, variable) else { return false };
    let execution = race_facts.execution;
    let program = execution.context.program;
    let thread = &execution.heap.threads[pair.threads.0];
    let is_in_constructor = |start: &Place| {
        let method = &program.methods[start.method];
        let is_once = program.body(start.method).is_some_and(|body| {
            let in_loop = body.blocks_in_loops();
            block_at(body, start.offset).is_some_and(|block| !in_loop[block])
        });
        method.is_initializer()
            && !method.is_static()
            && is_once
            && program.hierarchy.is_subtype(method.class, program.fields[field].class)
    };
    let is_inner = |entry: &MethodId| {
        let class = program.methods[*entry].class;
        thread
            .started_at
            .iter()
            .all(|start| is_in_or_below(program, class, program.methods[start.method].class))
    };
    pair.threads.0 == pair.threads.1
        && thread.started_at.len() == 1
        && thread.started_at.iter().all(is_in_constructor)
        && thread.entries.iter().all(is_inner)
}

/// Whether a class is another, or is nested in it.
fn is_in_or_below(program: &Program, class: ClassId, outer: ClassId) -> bool {
    let (class, outer) = (&program.classes[class].name, &program.classes[outer].name);
    class.strip_prefix(&**outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
}

fn block_at(body: &Body, offset: u32) -> Option<BlockId> {
    body.blocks.iter_with_ids().find_map(|(id, block)| {
        block.instructions.iter().any(|it| it.offset == offset).then_some(id)
    })
}

/// Whether both threads have taken the object out of a collection before, and not given it back yet: it is one thread's at
/// a time.
fn is_handed_over(variable: &Variable, conflicts: &Conflicts, pair: &Pair) -> bool {
    let is_taken_out = |group: usize| {
        conflicts.groups[group].iter().all(|at| variable.events[*at].base.is_taken_out)
    };
    is_taken_out(pair.first) && is_taken_out(pair.second)
}

/// The objects that somebody takes out of a collection before they are used, and what nothing else leads to.
fn lent(heap: &Heap, variables: &[Variable]) -> TypedVec<ObjectId, bool> {
    let mut is_lent = TypedVec::filled(false, heap.objects.len());
    for variable in variables {
        is_lent[variable.object] |= variable.events.iter().any(|event| event.base.is_taken_out);
    }
    for _ in 0..MOST_FIELDS {
        let is_inside = |id: &ObjectId| {
            let mut owners = heap.objects[*id].referred_by.iter().map(|(owner, _)| *owner);
            let is_kept = owners.clone().any(|owner| owner != *id);
            is_kept && owners.all(|owner| owner == *id || is_lent[owner])
        };
        let inside: Vec<ObjectId> = heap.objects.ids().filter(is_inside).collect();
        for object in inside {
            is_lent[object] = true;
        }
    }
    is_lent
}

/// Accesses of one way that are asked how their threads get there.
const MOST_ACCESSES: usize = 8;

/// Whether the two threads are of one kind: one abstract thread stands for both, or one calls what the other begins
/// with, and so is as good as one more of these.
fn is_one_kind(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> bool {
    let heap = race_facts.execution.heap;
    let (one, other) = pair.threads;
    let runs = |group: usize, thread: ThreadId| {
        let entries = &heap.threads[thread].entries;
        let is_entry = |method: MethodId| entries.contains(&method);
        let events = conflicts.groups[group].iter().map(|at| &variable.events[*at]);
        events.take(MOST_ACCESSES).all(|event| {
            let mut calls = race_facts.execution.call_chain(event.context).into_iter();
            is_entry(event.place.method) || calls.any(|call| is_entry(call.method))
        })
    };
    let is_started = |thread: ThreadId| heap.threads[thread].kind != ThreadKind::Main;
    one == other
        || (is_started(one) && runs(pair.second, one))
        || (is_started(other) && runs(pair.first, other))
}

/// Whether one access is made by a thread that has not started the thread of the other yet, and nobody else starts such
/// threads. Another thread of the first kind may have started one already; but that has another object, mostly.
fn is_before_start(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> bool {
    let before = |group: usize, one: ThreadId, other: ThreadId| {
        let starters = race_facts.conflict_facts.starters(other);
        let is_only_starter =
            starters.is_some_and(|starters| starters.iter().all(|starter| starter == one));
        let mut events = conflicts.groups[group].iter().map(|at| &variable.events[*at]);
        one != other
            && is_only_starter
            && events.all(|event| {
                let order = &race_facts.records.orders[event.order];
                let is_not_started =
                    order.may_have_started.as_ref().is_some_and(|started| !started.contains(other));
                is_not_started || comes_before_start(race_facts, event, other)
            })
    };
    let (one, other) = pair.threads;
    before(pair.first, one, other) || before(pair.second, other, one)
}

/// Whether an access comes before the start of a thread in the method that starts it, wherever it is started.
fn comes_before_start(race_facts: &RaceFacts<'_>, event: &Event, thread: ThreadId) -> bool {
    let execution = race_facts.execution;
    let program = execution.context.program;
    let mut places = execution.call_chain(event.context);
    places.push(event.place);
    let starts = &execution.heap.threads[thread].started_at;
    let comes_before = |start: &Place| {
        places.iter().filter(|place| place.method == start.method).any(|place| {
            program.body(place.method).is_some_and(|body| {
                let position = |offset: u32| {
                    body.blocks.iter_with_ids().find_map(|(id, block)| {
                        let at = block.instructions.iter().position(|it| it.offset == offset)?;
                        Some((id, at))
                    })
                };
                match (position(place.offset), position(start.offset)) {
                    (Some(access), Some(start)) if access.0 == start.0 => {
                        access.1 < start.1 && !body.blocks_in_loops()[start.0]
                    }
                    (Some(access), Some(start)) => {
                        is_reachable(body, access.0, start.0)
                            && !is_reachable(body, start.0, access.0)
                    }
                    (None, _) | (_, None) => false,
                }
            })
        })
    };
    !starts.is_empty() && starts.iter().all(comes_before)
}

/// Whether an object is made once, in the method that then starts several threads of this kind: they were all given
/// the same one.
fn is_given_to_several(
    race_facts: &RaceFacts<'_>,
    object: &AbstractObject,
    thread: ThreadId,
) -> bool {
    let program = race_facts.execution.context.program;
    let thread = &race_facts.execution.heap.threads[thread];
    let is_in_loop = |place: &Place| {
        program.body(place.method).is_some_and(|body| {
            let in_loop = body.blocks_in_loops();
            let is_there = |it: &Instruction| it.offset == place.offset;
            let mut blocks = body.blocks.iter_with_ids();
            blocks.any(|(id, block)| in_loop[id] && block.instructions.iter().any(is_there))
        })
    };
    let starts = |made: &Place| {
        let here = || thread.started_at.iter().filter(|start| start.method == made.method);
        here().count() > 1 || here().any(|start| thread.is_scoped || is_in_loop(start))
    };
    let is_run_by_several =
        object.properties.is_thread && thread.root_sharing == TaskSharing::Several;
    is_run_by_several
        || (!object.allocated_at.is_empty()
            && object.allocated_at.iter().all(|made| starts(made) && !is_in_loop(made)))
}

/// The lambdas that barriers are made with.
fn barrier_actions(program: &Program) -> Vec<MethodId> {
    let is_barrier = |class: ClassId| {
        program.models().coordinator(&program.classes[class].name) == Some(Coordinator::Barrier)
    };
    let mut found = Vec::new();
    for method in program.methods_with_bodies().filter(|it| program.is_application(*it)) {
        let Some(body) = program.body(method) else { continue };
        for instruction in body.instructions() {
            let Operation::Call(call) = &instruction.operation else { continue };
            let called = &program.methods[call.method];
            if !called.is_initializer() || !is_barrier(called.class) {
                continue;
            }
            for argument in &call.arguments {
                let made = body.defining_instruction(body.without_casts(*argument));
                if let Some(Operation::DynamicCall(made)) = made.map(|it| &it.operation)
                    && let DynamicTarget::Lambda(lambda) = made.target
                {
                    found.push(program.lambdas[lambda].implementation);
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The call at a place, and the body that it is in.
fn called_at(program: &Program, place: Place) -> Option<(&Body, &Call)> {
    let body = program.body(place.method)?;
    let mut instructions = body.instructions().filter(|it| it.offset == place.offset);
    match &instructions.next()?.operation {
        Operation::Call(call) => Some((body, call)),
        _ => None,
    }
}

/// Whether both threads wait for their turn before the access, and pass it on afterwards: a lock, or a queue of threads, that
/// somebody has made of `wait` and `notify`.
fn takes_turns(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> bool {
    let execution = race_facts.execution;
    let is_in_turn = |group: usize| {
        let events = conflicts.groups[group].iter().map(|at| &variable.events[*at]);
        events.take(MOST_ACCESSES).all(|event| {
            let calls = execution.call_chain(event.context);
            let mut places = calls.iter().copied().chain([event.place]);
            places.any(|place| is_between_turns(execution.context, place))
        })
    };
    is_in_turn(pair.first) && is_in_turn(pair.second)
}

/// Whether every way to a place goes through a call that waits for something, and gives nothing, and a call on the same object
/// that wakes others follows.
fn is_between_turns(context: &Context<'_>, place: Place) -> bool {
    let program = context.program;
    let Some(body) = program.body(place.method) else { return false };
    let (mut at, mut waits, mut wakes) = (None, Vec::new(), Vec::new());
    for (id, block) in body.blocks.iter_with_ids() {
        for (position, instruction) in block.instructions.iter().enumerate() {
            if instruction.offset == place.offset {
                at = Some((id, position));
            }
            let Operation::Call(call) = &instruction.operation else { continue };
            let Some(on) = call.arguments.first().map(|it| body.without_casts(*it)) else {
                continue;
            };
            let gives_nothing = !program.methods[call.method].descriptor.ends_with(';');
            let targets = context.graph.targets(place.method, instruction.offset);
            let does = |wanted: fn(&Effect) -> bool| {
                !targets.is_empty()
                    && targets.iter().all(|target| has_effect(program, target.method, wanted))
            };
            if gives_nothing && does(|effect| matches!(effect, Effect::Wait { .. })) {
                waits.push((on, (id, position)));
            } else if does(|effect| matches!(effect, Effect::Notify { .. })) {
                wakes.push((on, (id, position)));
            }
        }
    }
    let Some(at) = at else { return false };
    let follows = |one: (BlockId, usize), other: (BlockId, usize)| match one.0 == other.0 {
        true => one.1 < other.1,
        false => is_reachable(body, one.0, other.0),
    };
    let is_always_before = |wait: (BlockId, usize)| match wait.0 == at.0 {
        true => wait.1 < at.1,
        false => is_always_through(body, wait.0, at.0),
    };
    waits.iter().any(|(on, wait)| {
        let passes_on = |(of, wake): &(ValueId, (BlockId, usize))| {
            is_same_object(body, *of, *on) && follows(at, *wake)
        };
        // Not behind the call that passes it on, unless it has waited once more.
        let is_over = |(of, wake): &(ValueId, (BlockId, usize))| {
            is_same_object(body, *of, *on) && comes_back(body, *wake, at, *wait)
        };
        is_always_before(*wait) && wakes.iter().any(passes_on) && !wakes.iter().any(is_over)
    })
}

/// Whether control can get from one position to another without passing a third.
fn comes_back(
    body: &Body,
    from: (BlockId, usize),
    to: (BlockId, usize),
    without: (BlockId, usize),
) -> bool {
    if from.0 == to.0 && from.1 < to.1 {
        return !(without.0 == from.0 && (from.1..to.1).contains(&without.1));
    }
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from.0]);
    while let Some(block) = todo.pop() {
        for next in body.blocks[block].terminator.successors() {
            if next == to.0 && !(without.0 == next && without.1 < to.1) {
                return true;
            }
            if next != without.0 && seen.insert(next) {
                todo.push(next);
            }
        }
    }
    false
}

/// Whether a method of the program does this to its monitor or condition itself.
fn has_effect(program: &Program, method: MethodId, wanted: fn(&Effect) -> bool) -> bool {
    program.is_application(method)
        && program.body(method).is_some_and(|body| {
            body.instructions().any(|instruction| match &instruction.operation {
                Operation::Call(call) => program.effects_of(call.method).iter().any(wanted),
                _ => false,
            })
        })
}

/// Calls from the beginning of a thread to where it waits at a barrier, at most.
const CALLS_TO_BARRIER: usize = 3;

/// Whether a thread comes to a barrier again and again: one of the library in a loop, or a method of which one side wakes
/// all who wait and the other waits, so that nobody does both.
fn meets_at_barrier(program: &Program, graph: &CallGraph, thread: &AbstractThread) -> bool {
    let (mut seen, mut last) = (BTreeSet::new(), thread.entries.clone());
    for _ in 0..=CALLS_TO_BARRIER {
        if last.iter().any(|method| waits_at_barrier(program, *method)) {
            return true;
        }
        seen.extend(last.iter().copied());
        let callees = last.iter().flat_map(|method| graph.callees(*method));
        last = callees.filter(|callee| program.is_application(*callee)).collect();
        last.sort_unstable();
        last.dedup();
        last.retain(|method| !seen.contains(method));
    }
    false
}

fn waits_at_barrier(program: &Program, method: MethodId) -> bool {
    let Some(body) = program.body(method) else { return false };
    let in_loop = body.blocks_in_loops();
    let (mut waits, mut wakes) = (Vec::new(), Vec::new());
    for (id, block) in body.blocks.iter_with_ids() {
        for instruction in &block.instructions {
            let Operation::Call(call) = &instruction.operation else { continue };
            let class = &program.classes[program.methods[call.method].class].name;
            // What is ordered by a barrier of the library is known, but for the rounds of a loop.
            if in_loop[id] && program.models().coordinator(class) == Some(Coordinator::Barrier) {
                return true;
            }
            for effect in program.effects_of(call.method) {
                match effect {
                    Effect::Wait { kind: WaitKind::Monitor | WaitKind::Condition, .. } => {
                        waits.push(id);
                    }
                    Effect::Notify { .. } => wakes.push(id),
                    _ => {}
                }
            }
        }
    }
    let is_apart = |one: &[BlockId], other: &[BlockId]| {
        one.iter().all(|from| other.iter().all(|to| !is_reachable(body, *from, *to)))
    };
    !waits.is_empty() && !wakes.is_empty() && is_apart(&waits, &wakes) && is_apart(&wakes, &waits)
}

/// Whether control gets to a block only through another.
pub(super) fn is_always_through(body: &Body, through: BlockId, to: BlockId) -> bool {
    let mut todo: Vec<BlockId> = body.blocks.ids().take(1).collect();
    let mut seen: BTreeSet<BlockId> = todo.iter().copied().collect();
    while let Some(block) = todo.pop().filter(|_| !seen.contains(&to)) {
        if block != through {
            let next = body.blocks[block].terminator.successors();
            todo.extend(next.filter(|next| seen.insert(*next)));
        }
    }
    !seen.contains(&to)
}

/// Whether control can get from one block to another.
fn is_reachable(body: &Body, from: BlockId, to: BlockId) -> bool {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from]);
    while let Some(block) = todo.pop() {
        for next in body.blocks[block].terminator.successors() {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                todo.push(next);
            }
        }
    }
    from == to
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
