//! Where threads begin: `main`, what is started or submitted, what frameworks call, and what the
//! user names.
//!
//! A task is found at the call that starts it (a `Fork` or `Submit` effect in the models) when it
//! is created in the same method, as an object or a lambda. The `run` methods of other tasks are
//! entry points by their type alone.

use std::collections::BTreeMap;

use classes::access;
use findings::Site;

use crate::callgraph::{CallGraph, created_lambda};
use crate::ids::{ClassId, MethodId, ValueId};
use crate::ir::{Body, Definition, Operation};
use crate::symbols::{Origin, Program};
use models::Pattern;
use models::{
    Effect, EntryPoint, EntryThread, Matcher, Multiplicity, ReceiverSharing, Runner, Times,
};

/// What makes a method run in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RootKind {
    /// Something outside the program calls it.
    Entry(EntryThread),
    /// The program starts a thread that runs it.
    Started,
    /// The program hands it to others to run.
    Submitted,
    /// It is a step of a parallel stream.
    ParallelStream,
    /// The user says so.
    Named,
}

impl RootKind {
    /// A few words for people.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            RootKind::Entry(EntryThread::Main) => "main thread",
            RootKind::Entry(EntryThread::Own) => "a thread of its own",
            RootKind::Entry(EntryThread::Pool) => "a worker of a pool",
            RootKind::Entry(EntryThread::Request) => "a server's request thread",
            RootKind::Entry(EntryThread::EventDispatch) => "the event dispatch thread",
            RootKind::Entry(EntryThread::Timer) => "a timer",
            RootKind::Entry(EntryThread::Test) => "a test runner",
            RootKind::Entry(EntryThread::Coroutine) => "a coroutine dispatcher",
            RootKind::Entry(EntryThread::Container) => "a container",
            RootKind::Entry(EntryThread::System) => "the virtual machine",
            RootKind::Entry(EntryThread::ClassInitialization) => "class initialisation",
            RootKind::Started => "a started thread",
            RootKind::Submitted => "a submitted task",
            RootKind::ParallelStream => "a parallel stream",
            RootKind::Named => "named as an entry point",
        }
    }
}

/// A method that a thread begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRoot {
    /// The method.
    pub method: MethodId,
    /// What makes it run in a thread.
    pub kind: RootKind,
    /// Whether two threads can run it at the same time.
    pub may_overlap: bool,
    /// Where it is started, when the program does that itself.
    pub started_at: Vec<Site>,
}

/// The thread roots among the application's methods, by method. Class initialisers run in whatever
/// thread comes first and are not listed.
#[must_use]
pub fn roots(program: &Program, graph: &CallGraph, named: &[Pattern]) -> Vec<ThreadRoot> {
    let mut found: BTreeMap<(MethodId, RootKind), ThreadRoot> = BTreeMap::new();
    let mut add = |method: MethodId, kind, may_overlap, site: Option<Site>| {
        if !program.is_application(method) || program.body(method).is_none() {
            return;
        }
        let root = found.entry((method, kind)).or_insert(ThreadRoot {
            method,
            kind,
            may_overlap: false,
            started_at: Vec::new(),
        });
        // Started at two places: two may run at once.
        root.may_overlap |= may_overlap || !root.started_at.is_empty();
        root.started_at.extend(site);
    };
    for method in program.methods_with_bodies() {
        if !program.is_application(method) {
            continue;
        }
        for started in started_by(program, method) {
            let site = program.site(method, started.offset);
            add(started.method, started.kind, started.may_overlap, Some(site));
        }
    }
    let has_start: Vec<MethodId> = found.keys().map(|(method, _)| *method).collect();
    let mut add = |method: MethodId, kind, may_overlap| {
        if program.body(method).is_some() {
            let new = ThreadRoot { method, kind, may_overlap, started_at: Vec::new() };
            found.entry((method, kind)).or_insert(new).may_overlap |= may_overlap;
        }
    };
    for (method, declared) in program.methods.iter_with_ids() {
        if program.classes[declared.class].origin != Origin::Application {
            continue;
        }
        let fitting: Vec<&EntryPoint> = program
            .models()
            .entry_points()
            .filter(|entry| entry.thread != EntryThread::ClassInitialization)
            .filter(|entry| matches(program, method, entry))
            .collect();
        for entry in &fitting {
            if fitting.iter().any(|other| is_more_specific(program, other, entry)) {
                continue;
            }
            let has_caller = has_start.contains(&method) || !graph.callers(method).is_empty();
            if !(entry.only_without_caller && has_caller) {
                let may_overlap = entry.multiplicity == Multiplicity::Many;
                add(method, RootKind::Entry(entry.thread), may_overlap);
            }
        }
    }
    for method in named.iter().flat_map(|pattern| named_methods(program, pattern)) {
        add(method, RootKind::Named, true);
    }
    found.into_values().collect()
}

/// The methods that a user means by the pattern of an entry point: those of the application that code outside their
/// class can call, also those that a class inherits. Sorted.
#[must_use]
pub fn named_methods(program: &Program, pattern: &Pattern) -> Vec<MethodId> {
    let mut found = Vec::new();
    for (class, declared) in program.classes.iter_with_ids() {
        if declared.origin != Origin::Application {
            continue;
        }
        let name = declared.dotted_name();
        for above in program.hierarchy.superclasses(class) {
            for method in program.classes[above].methods.iter().copied() {
                let is_inherited = above == class || !program.methods[method].is_initializer();
                if is_inherited
                    && is_callable(program, method)
                    && pattern.matches(&format!("{name}.{}", program.methods[method].name))
                {
                    found.push(method);
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether code outside its class can call a method of the application, and it has code.
fn is_callable(program: &Program, method: MethodId) -> bool {
    let declared = &program.methods[method];
    let is_made_by_compiler = declared.access & access::SYNTHETIC != 0;
    !declared.is_private()
        && !is_made_by_compiler
        && &*declared.name != "<clinit>"
        && program.is_application(method)
        && program.body(method).is_some()
}

/// A thread or task that a method starts.
struct Started {
    method: MethodId,
    kind: RootKind,
    may_overlap: bool,
    offset: u32,
}

fn started_by(program: &Program, method: MethodId) -> Vec<Started> {
    let Some(body) = program.body(method) else { return Vec::new() };
    let calls = || {
        let blocks = body.blocks.iter_with_ids();
        let instructions =
            blocks.flat_map(|(id, block)| block.instructions.iter().map(move |it| (id, it)));
        instructions.filter_map(|(block, instruction)| match &instruction.operation {
            Operation::Call(call) => Some((block, instruction.offset, &**call)),
            _ => None,
        })
    };
    let uses_parallel_streams =
        calls().any(|(_, _, call)| program.effects_of(call.method).contains(&Effect::Parallel));
    let mut started = Vec::new();
    let mut in_loop = None;
    for (block, offset, call) in calls() {
        for effect in program.effects_of(call.method) {
            let (task, kind, may_overlap) = match effect {
                Effect::Fork { task } => (task, RootKind::Started, false),
                Effect::Wraps { task, .. } => (task, RootKind::Started, false),
                Effect::Submit { task, to, times } => {
                    let single = matches!(to, Runner::Timer(_) | Runner::EventDispatch);
                    let overlaps = *times == Times::Concurrently || !single;
                    (task, RootKind::Submitted, overlaps)
                }
                Effect::RunsTask { task, times } => {
                    if *times != Times::Concurrently && !uses_parallel_streams {
                        continue;
                    }
                    (task, RootKind::ParallelStream, true)
                }
                _ => continue,
            };
            let is_again = in_loop.get_or_insert_with(|| body.blocks_in_loops())[block];
            let may_overlap = may_overlap || (is_again && !is_serial(effect));
            for value in program.operand_values(call, *task) {
                for method in run_methods(program, body, value) {
                    started.push(Started { method, kind, may_overlap, offset });
                }
            }
        }
    }
    started
}

/// Whether the tasks that such a call starts run one after the other.
fn is_serial(effect: &Effect) -> bool {
    matches!(effect, Effect::Submit { to: Runner::Timer(_) | Runner::EventDispatch, .. })
}

/// The methods that run when a task runs, for a task that is created in this body.
fn run_methods(program: &Program, body: &Body, value: ValueId) -> Vec<MethodId> {
    let mut seen = vec![body.without_casts(value)];
    let mut found = Vec::new();
    let mut next = 0;
    while next < seen.len() {
        let value = seen[next];
        next += 1;
        if let Some(lambda) = created_lambda(body, value) {
            found.push(program.lambdas[lambda].implementation);
        } else if let Definition::Phi(block) = body.definitions[value] {
            let phis = body.blocks[block].phis.iter().filter(|phi| phi.result == value);
            for input in phis.flat_map(|phi| phi.inputs.iter().flatten()) {
                let input = body.without_casts(*input);
                if !seen.contains(&input) {
                    seen.push(input);
                }
            }
        } else if let Some(created) = body.defining_instruction(value)
            && let Operation::New(class) = created.operation
        {
            found.extend(task_methods_of(program, class));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The methods through which library code runs an object of this class.
#[must_use]
pub fn task_methods_of(program: &Program, class: ClassId) -> Vec<MethodId> {
    let mut found = Vec::new();
    for supertype in program.hierarchy.supertypes(class) {
        for task in program.models().task_methods(&program.classes[supertype].name) {
            if let Some(selector) = program.selector(task.method, task.descriptor) {
                found.extend(program.hierarchy.dispatch(class, selector));
            }
        }
    }
    found
}

/// Whether one kind of entry point says more about who calls a method than another: whoever runs the `run` of a timer
/// task is a timer, and not just any worker.
fn is_more_specific(program: &Program, one: &EntryPoint, other: &EntryPoint) -> bool {
    match (one.matcher, other.matcher) {
        (Matcher::Subtype(below), Matcher::Subtype(above)) => {
            below != above && program.models().supertypes(below).contains(&above)
        }
        _ => false,
    }
}

/// Whether a user says that the calls of an entry point are made on one object.
#[must_use]
pub fn is_shared_by_user(program: &Program, method: MethodId) -> bool {
    program.models().has_users()
        && program.models().entry_points().any(|entry| {
            entry.source.is_user
                && entry.receiver == ReceiverSharing::Shared
                && matches(program, method, entry)
        })
}

/// What the models say of the objects that such a thread calls a method on.
#[must_use]
pub fn receivers(program: &Program, method: MethodId, thread: EntryThread) -> Vec<ReceiverSharing> {
    let rows = program.models().entry_points();
    rows.filter(|entry| entry.thread == thread && matches(program, method, entry))
        .map(|entry| entry.receiver)
        .collect()
}

/// Whether the models say which thread of the library or of a framework calls a method.
pub(crate) fn is_entry_point(program: &Program, method: MethodId) -> bool {
    program.models().entry_points().any(|entry| matches(program, method, entry))
}

pub(crate) fn matches(program: &Program, method: MethodId, entry: &EntryPoint) -> bool {
    let declared = &program.methods[method];
    let fits = |pattern: &str, text: &str| pattern == "*" || pattern == text;
    if !entry.names(&declared.name) || !fits(entry.descriptor, &declared.descriptor) {
        return false;
    }
    let class = &program.classes[declared.class];
    let supertypes = || {
        program
            .hierarchy
            .supertypes(declared.class)
            .into_iter()
            .map(|class| &program.classes[class].name)
    };
    let annotated = |annotations: &[classes::Annotation], wanted: &str| {
        annotations.iter().any(|annotation| annotation.is_named(wanted))
    };
    // Frameworks call what the interfaces of theirs declare.
    let is_open = entry.method != "*" || !(declared.is_private() || declared.is_initializer());
    match entry.matcher {
        Matcher::AnyStatic => declared.is_static(),
        Matcher::Subtype(name) => {
            is_open && !declared.is_static() && supertypes().any(|supertype| **supertype == *name)
        }
        Matcher::SubtypeOfPackage(prefix) => {
            is_open
                && !declared.is_static()
                && supertypes().any(|supertype| supertype.starts_with(prefix))
        }
        Matcher::MethodAnnotation(name) => class
            .file
            .as_ref()
            .zip(declared.position)
            .is_some_and(|(file, at)| annotated(&file.methods[at as usize].annotations, name)),
        Matcher::ClassAnnotation(name) => {
            declared.access & access::PUBLIC != 0
                && !declared.is_initializer()
                && class.file.as_ref().is_some_and(|file| annotated(&file.annotations, name))
        }
    }
}
