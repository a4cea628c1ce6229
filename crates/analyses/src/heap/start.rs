//! Where abstract threads come from (dissertation, 3.2): `main`, what is started, what frameworks call, what the user
//! names, class initialisers.
//!
//! Deviations from the dissertation: tasks of executors, timers, futures and parallel streams are threads of their own;
//! what one worker runs takes turns; all methods that one thread of a framework calls are one abstract thread.

use std::collections::{BTreeMap, BTreeSet};

use program::callgraph::CallGraph;
use program::ids::{FieldId, MethodId, TypedVec, ValueId};
use program::ir::{Body, Call, DynamicTarget, Operation};
use program::models::Pattern;
use program::models::{Effect, EntryThread, Matcher, ReceiverSharing, Runner, Times};
use program::threads::{self, RootKind, ThreadRoot};
use program::{Components, Program};

use super::library::has_parallel_streams;
use super::loops::Repetition;
use super::public_api::{self, EnteredClasses};
use super::{
    AbstractThread, Name, NameRoot, Place, SerializedBy, Shape, Slot, TaskSharing, ThreadKind,
};

/// The methods that threads begin with, before there are abstract objects.
pub(super) struct FoundThreads {
    pub(super) threads: Vec<AbstractThread>,
    /// The methods that some thread may get to.
    pub(super) is_reached: TypedVec<MethodId, bool>,
    /// The classes that are entered from outside although nobody named them.
    pub(super) entered_classes: EnteredClasses,
}

/// What is known of a task by its body.
#[derive(Default)]
struct Task {
    started_at: BTreeSet<Place>,
    is_repeated: bool,
    /// Whether it was ever started by something else than one worker that runs one task at a time.
    runs_anywhere: bool,
    serialized_by: BTreeSet<SerializedBy>,
    is_scoped: bool,
    starts: usize,
    /// Places that make such a task. Where helpers start it, that is how often.
    made: usize,
}

/// What threads are looked for in.
pub(super) struct StartInputs<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a CallGraph,
    pub(super) shapes: &'a TypedVec<MethodId, Shape>,
    /// The methods that the user names as entry points.
    pub(super) named: &'a [Pattern],
    pub(super) components: &'a Components,
    /// Whether public classes that no thread gets to are entered.
    pub(super) enters_public_classes: bool,
}

pub(super) fn find(inputs: &StartInputs<'_>) -> FoundThreads {
    let StartInputs { program, graph, shapes, named, components, enters_public_classes } = *inputs;
    let outside = threads::roots(program, graph, named);
    let is_initialiser = |method: &MethodId| &*program.methods[*method].name == "<clinit>";
    let initialisers: Vec<MethodId> = program
        .methods_with_bodies()
        .filter(|method| program.is_application(*method) && is_initialiser(method))
        .collect();
    let mut is_reached = TypedVec::filled(false, program.methods.len());
    let mut todo: Vec<MethodId> = initialisers.clone();
    let is_entry = |root: &&ThreadRoot| is_entry(root);
    todo.extend(outside.iter().filter(is_entry).map(|root| root.method));
    let mut started: BTreeSet<MethodId> = BTreeSet::new();
    reach(graph, shapes, &mut todo, &mut is_reached, &mut started);
    let entered = match enters_public_classes {
        true => {
            let receivers =
                outside.iter().filter(is_entry).map(|it| program.methods[it.method].class);
            let wired = components.wired_from(program, receivers.collect());
            public_api::entered_classes(program, components, &wired, &is_reached)
        }
        false => EnteredClasses::new(),
    };
    let bodies: BTreeSet<MethodId> =
        outside.iter().filter(|root| is_task(root)).map(|root| root.method).collect();
    let public = public_threads(program, &entered, &bodies);
    todo.extend(public.iter().flat_map(|thread| thread.entries.iter().copied()));
    reach(graph, shapes, &mut todo, &mut is_reached, &mut started);
    // Tasks that nobody is seen to start: somebody outside does.
    let mut orphans = Vec::new();
    for root in &outside {
        if is_task(root) && !started.contains(&root.method) && !is_reached[root.method] {
            orphans.push(root.clone());
        }
    }
    orphans.extend(orphan_lambdas(program, graph, &is_reached, &started));
    todo.extend(orphans.iter().map(|root| root.method));
    reach(graph, shapes, &mut todo, &mut is_reached, &mut started);
    orphans.retain(|root| !started.contains(&root.method));

    let single = single_worker_fields(program, shapes);
    let mut threads = Vec::new();
    let entries: Vec<&ThreadRoot> = outside.iter().filter(is_entry).chain(&orphans).collect();
    add_entries(program, &entries, &mut threads);
    threads.extend(public);
    add_tasks(program, graph, shapes, &is_reached, &started, &single, &mut threads);
    threads.extend(
        initialisers.into_iter().map(|method| thread(ThreadKind::Init, true, vec![method])),
    );
    FoundThreads { threads, is_reached, entered_classes: entered }
}

/// The lambdas of tasks that reached code makes and nobody is seen to run: they were put somewhere from where somebody
/// takes them.
fn orphan_lambdas(
    program: &Program,
    graph: &CallGraph,
    is_reached: &TypedVec<MethodId, bool>,
    started: &BTreeSet<MethodId>,
) -> Vec<ThreadRoot> {
    let is_task = |interface: &str| {
        program.models().entry_points().any(|entry| {
            entry.only_without_caller
                && matches!(entry.thread, EntryThread::Own | EntryThread::Pool)
                && matches!(entry.matcher, Matcher::Subtype(name) if name == interface)
        })
    };
    let mut found: BTreeMap<MethodId, bool> = BTreeMap::new();
    let mut repetition = None;
    for method in program.methods_with_bodies().filter(|method| is_reached[*method]) {
        let Some(body) = program.body(method).filter(|_| program.is_application(method)) else {
            continue;
        };
        for (block, instruction) in body.blocks.iter_with_ids().flat_map(|(id, block)| {
            block.instructions.iter().map(move |instruction| (id, instruction))
        }) {
            let Operation::DynamicCall(call) = &instruction.operation else { continue };
            let DynamicTarget::Lambda(lambda) = call.target else { continue };
            let lambda = &program.lambdas[lambda];
            let run = lambda.implementation;
            let is_lost = program.is_application(run)
                && program.body(run).is_some()
                && !is_reached[run]
                && !started.contains(&run)
                && is_task(&program.classes[lambda.interface].name);
            if is_lost {
                let repetition = repetition
                    .get_or_insert_with(|| Repetition::of(program, graph, is_reached, |_| false));
                let is_again = repetition.is_repeated(method) || body.blocks_in_loops()[block];
                *found.entry(run).or_default() |= is_again;
            }
        }
    }
    let root = |(method, may_overlap)| ThreadRoot {
        method,
        kind: RootKind::Entry(EntryThread::Pool),
        may_overlap,
        started_at: Vec::new(),
    };
    found.into_iter().map(root).collect()
}

/// The callers of public classes: many of those that are meant for many, and one of the others. Constructors make
/// objects of their own.
fn public_threads(
    program: &Program,
    entered: &EnteredClasses,
    bodies: &BTreeSet<MethodId>,
) -> Vec<AbstractThread> {
    let mut threads = Vec::new();
    for is_many in [true, false] {
        let classes = entered.iter().filter(|(_, reason)| reason.is_for_many() == is_many);
        let mut entries: Vec<MethodId> = Vec::new();
        for (class, _) in classes {
            entries.extend(public_api::callable_methods(program, *class));
            let declared = program.classes[*class].methods.iter().copied();
            entries.extend(declared.filter(|method| {
                &*program.methods[*method].name == "<init>" && program.body(*method).is_some()
            }));
        }
        // Whoever runs tasks calls these.
        entries.retain(|method| !bodies.contains(method));
        entries.sort_unstable();
        entries.dedup();
        if !entries.is_empty() {
            threads.push(thread(ThreadKind::Public, !is_many, entries));
        }
    }
    threads
}

/// Whether other threads run the object that a thread begins with. `of_body` says so of the bodies of tasks.
pub(super) fn root_sharing(
    program: &Program,
    thread: &AbstractThread,
    of_body: &dyn Fn(MethodId) -> TaskSharing,
) -> TaskSharing {
    let of_entry = |entry: &MethodId| match thread.kind {
        ThreadKind::Main | ThreadKind::Init => TaskSharing::Own,
        ThreadKind::Run => of_body(*entry),
        // Whoever names an entry point says that callers share what they call.
        ThreadKind::Client | ThreadKind::Public => TaskSharing::Several,
        ThreadKind::Entry(kind) => {
            let receivers = threads::receivers(program, *entry, kind);
            let is_task = matches!(kind, EntryThread::Own | EntryThread::Pool | EntryThread::Timer);
            if receivers.contains(&ReceiverSharing::Shared) {
                TaskSharing::Several
            } else if receivers.contains(&ReceiverSharing::PerCall) {
                TaskSharing::Own
            } else if is_task {
                of_body(*entry)
            } else {
                TaskSharing::Unknown
            }
        }
    };
    thread.entries.iter().map(of_entry).max().unwrap_or_default()
}

/// Whether something outside calls the method, whatever the program does.
fn is_entry(root: &ThreadRoot) -> bool {
    match root.kind {
        RootKind::Entry(_) => !is_task(root),
        RootKind::Named => true,
        RootKind::Started | RootKind::Submitted | RootKind::ParallelStream => false,
    }
}

/// Whether the method is the body of a task, which the program usually starts itself.
fn is_task(root: &ThreadRoot) -> bool {
    matches!(root.kind, RootKind::Entry(EntryThread::Own | EntryThread::Pool | EntryThread::Timer))
}

/// Goes on along calls, and along starts of tasks.
fn reach(
    graph: &CallGraph,
    shapes: &TypedVec<MethodId, Shape>,
    todo: &mut Vec<MethodId>,
    is_reached: &mut TypedVec<MethodId, bool>,
    started: &mut BTreeSet<MethodId>,
) {
    while let Some(method) = todo.pop() {
        if std::mem::replace(&mut is_reached[method], true) {
            continue;
        }
        todo.extend(graph.callees(method));
        for name in shapes[method].nodes.iter().flat_map(|node| &node.names) {
            if let (NameRoot::Task(body), None) = (name.root, name.path().next())
                && started.insert(body)
            {
                todo.push(body);
            }
        }
    }
}

fn thread(kind: ThreadKind, is_unique: bool, entries: Vec<MethodId>) -> AbstractThread {
    AbstractThread {
        kind,
        is_unique,
        entries,
        root: None,
        root_sharing: TaskSharing::Unknown,
        started_at: Vec::new(),
        serialized_by: None,
        is_scoped: false,
    }
}

/// One abstract thread for all methods that the same thread outside calls.
fn add_entries(program: &Program, entries: &[&ThreadRoot], threads: &mut Vec<AbstractThread>) {
    let mut groups: BTreeMap<(ThreadKind, bool, Option<MethodId>), Vec<MethodId>> = BTreeMap::new();
    for root in entries {
        let (kind, own) = match root.kind {
            RootKind::Entry(EntryThread::Main) => (ThreadKind::Main, None),
            RootKind::Named => (ThreadKind::Client, None),
            // Tasks that nobody is seen to start have nothing to do with each other.
            RootKind::Entry(entry) if is_task(root) => {
                (ThreadKind::Entry(entry), Some(root.method))
            }
            RootKind::Entry(entry) => (ThreadKind::Entry(entry), None),
            RootKind::Started | RootKind::Submitted | RootKind::ParallelStream => continue,
        };
        let may_overlap = kind != ThreadKind::Main && root.may_overlap;
        groups.entry((kind, may_overlap, own)).or_default().push(root.method);
    }
    for ((kind, may_overlap, _), mut methods) in groups {
        methods.sort_unstable();
        methods.dedup();
        let mut made = thread(kind, !may_overlap, methods);
        if kind == ThreadKind::Entry(EntryThread::EventDispatch) {
            made.serialized_by = Some(SerializedBy::EventDispatch);
        }
        threads.push(made);
    }
    debug_assert!(threads.iter().all(|thread| program.body(thread.entries[0]).is_some()));
}

/// One abstract thread for each body of a task that is started.
fn add_tasks(
    program: &Program,
    graph: &CallGraph,
    shapes: &TypedVec<MethodId, Shape>,
    is_reached: &TypedVec<MethodId, bool>,
    started: &BTreeSet<MethodId>,
    single: &BTreeSet<FieldId>,
    threads: &mut Vec<AbstractThread>,
) {
    let begun: Vec<MethodId> = threads
        .iter()
        .filter(|thread| !thread.is_unique)
        .flat_map(|thread| thread.entries.iter().copied())
        .collect();
    let mut many: BTreeSet<MethodId> = begun.into_iter().collect();
    // A task that several threads start is several threads; so are those that it starts.
    loop {
        let repetition =
            Repetition::of(program, graph, is_reached, |method| many.contains(&method));
        let tasks = tasks(program, shapes, is_reached, single, &repetition);
        let found: Vec<MethodId> = started
            .iter()
            .copied()
            .filter(|body| tasks.get(body).is_some_and(Task::is_many) && !many.contains(body))
            .collect();
        if !found.is_empty() {
            many.extend(found);
            continue;
        }
        for body in started {
            if program.body(*body).is_none() {
                continue;
            }
            let mut made = thread(ThreadKind::Run, !many.contains(body), vec![*body]);
            if let Some(task) = tasks.get(body) {
                made.started_at = task.started_at.iter().copied().collect();
                made.is_scoped = task.is_scoped;
                if !task.runs_anywhere && task.serialized_by.len() == 1 {
                    made.serialized_by = task.serialized_by.first().copied();
                    made.is_unique = true;
                }
            }
            threads.push(made);
        }
        return;
    }
}

impl Task {
    fn is_many(&self) -> bool {
        self.is_repeated || self.starts > 1 || self.made > 1
    }
}

/// What is known of the tasks that reached methods make and start.
fn tasks(
    program: &Program,
    shapes: &TypedVec<MethodId, Shape>,
    is_reached: &TypedVec<MethodId, bool>,
    single: &BTreeSet<FieldId>,
    repetition: &Repetition,
) -> BTreeMap<MethodId, Task> {
    let mut tasks: BTreeMap<MethodId, Task> = BTreeMap::new();
    for method in program.methods_with_bodies().filter(|method| is_reached[*method]) {
        let Some(body) = program.body(method) else { continue };
        let shape = &shapes[method];
        let in_loop = body.blocks_in_loops();
        let has_parallel_streams = has_parallel_streams(program, body);
        for (id, block) in body.blocks.iter_with_ids() {
            let is_repeated = in_loop[id] || repetition.is_repeated(method);
            for instruction in &block.instructions {
                let place = Place { method, offset: instruction.offset };
                match &instruction.operation {
                    Operation::New(_) | Operation::DynamicCall(_) => {
                        let made = instruction.result.into_iter();
                        for task in made.flat_map(|value| bodies_of(shape, value)) {
                            tasks.entry(task).or_default().is_repeated |= is_repeated;
                        }
                        let made = instruction.result.and_then(|value| shape.node_of(value));
                        let names = made.into_iter().flat_map(|node| &shape[node].names);
                        for task in names.filter_map(task_body) {
                            tasks.entry(task).or_default().made += 1;
                        }
                    }
                    Operation::Call(call) => {
                        let starts = starts(program, call, has_parallel_streams);
                        for (value, start) in starts {
                            let serialized_by = start.serialized_by(body, single);
                            for task in bodies_of(shape, value) {
                                let task = tasks.entry(task).or_default();
                                task.starts += 1;
                                task.started_at.insert(place);
                                task.is_repeated |= start.overlaps || is_repeated;
                                task.is_scoped |= start.is_scoped;
                                match serialized_by {
                                    Some(serialized_by) => {
                                        task.serialized_by.insert(serialized_by);
                                    }
                                    None => task.runs_anywhere = true,
                                }
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    tasks
}

/// How a call starts a task.
#[derive(Clone, Copy)]
struct Start {
    runner: Option<Runner>,
    overlaps: bool,
    is_scoped: bool,
    executor: Option<ValueId>,
}

impl Start {
    /// What the task takes turns with.
    fn serialized_by(self, body: &Body, single: &BTreeSet<FieldId>) -> Option<SerializedBy> {
        match self.runner? {
            Runner::EventDispatch => Some(SerializedBy::EventDispatch),
            Runner::Executor(_) | Runner::Timer(_) => {
                let is_timer = matches!(self.runner, Some(Runner::Timer(_)));
                let executor = body.without_casts(self.executor?);
                match &body.defining_instruction(executor)?.operation {
                    Operation::GetField { field, .. } | Operation::GetStatic(field) => {
                        (is_timer || single.contains(field)).then_some(SerializedBy::Field(*field))
                    }
                    _ => None,
                }
            }
            Runner::CommonPool
            | Runner::CurrentPool
            | Runner::NewThread
            | Runner::VirtualThread
            | Runner::Completer
            | Runner::Dispatcher
            | Runner::System => None,
        }
    }
}

/// The values that a call starts or hands to others to run.
fn starts(program: &Program, call: &Call, has_parallel_streams: bool) -> Vec<(ValueId, Start)> {
    let effects = program.effects_of(call.method);
    let joins_at_once =
        effects.iter().any(|effect| matches!(effect, Effect::Join { timed: false, .. }));
    let mut found = Vec::new();
    for effect in effects {
        let (task, start) = match *effect {
            Effect::Fork { task } => {
                (task, Start { runner: None, overlaps: false, is_scoped: false, executor: None })
            }
            Effect::Submit { task, to, times } => {
                let first_of = |operand| program.operand_values(call, operand).first().copied();
                let executor = to.operand().and_then(first_of);
                let overlaps = times == Times::Concurrently;
                (task, Start { runner: Some(to), overlaps, is_scoped: joins_at_once, executor })
            }
            Effect::RunsTask { task, times }
                if times == Times::Concurrently || has_parallel_streams =>
            {
                (task, Start { runner: None, overlaps: true, is_scoped: true, executor: None })
            }
            _ => continue,
        };
        found.extend(program.operand_values(call, task).into_iter().map(|value| (value, start)));
    }
    found
}

/// The bodies of the tasks that a value stands for, also of those that it wraps.
fn bodies_of(shape: &Shape, value: ValueId) -> Vec<MethodId> {
    let Some(node) = shape.node_of(value) else { return Vec::new() };
    let node = &shape[node];
    let wrapped = node.target(Slot::Task).map(|task| &shape[task]);
    let names = node.names.iter().chain(wrapped.into_iter().flat_map(|task| &task.names));
    let mut bodies: Vec<MethodId> = names.filter_map(task_body).collect();
    bodies.sort_unstable();
    bodies.dedup();
    bodies
}

/// The body of the task that a name is of.
pub(super) fn task_body(name: &Name) -> Option<MethodId> {
    match (name.root, name.path().next()) {
        (NameRoot::Task(body), None) => Some(body),
        _ => None,
    }
}

/// The fields that hold executors with a single worker.
fn single_worker_fields(
    program: &Program,
    shapes: &TypedVec<MethodId, Shape>,
) -> BTreeSet<FieldId> {
    let mut fields = BTreeSet::new();
    for method in program.methods_with_bodies() {
        let shape = &shapes[method];
        for edge in shape.nodes.iter().flat_map(|node| &node.edges) {
            if let (Slot::Field(field), Some(target)) = (edge.slot, edge.target)
                && shape[target].flags.is_single_worker
            {
                fields.insert(field);
            }
        }
    }
    fields
}
