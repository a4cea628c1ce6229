//! Whether the object that a thread runs is its own, or one that several threads run (dissertation, 4.4.1: intra-thread
//! encapsulation).
//!
//! That a thread starts in an object does not make the object its own: `new Thread(task)` in a loop, or a task that is
//! submitted twice, is one object and several threads. So it is counted how often each new object is given to a runner:
//! where it is made, and through the parameters of the methods that it is passed to.
//!
//! Property: if a class is [`TaskSharing::Own`], no object of it is run by two threads at the same time, as far as
//! the calls of the program show.
//!
//! A thread is started once; so giving a task to `new Thread` counts, and starting the thread does not. A wrapper of the
//! library that can be run again and again counts as one that runs once. May take a thread for its own that is also
//! given to another one as its task, through a variable of the type of the task.

use std::collections::{BTreeMap, BTreeSet};

use program::callgraph::{CallGraph, CallKind};
use program::ids::{BlockId, ClassId, MethodId, TypedVec, ValueId};
use program::ir::{
    Body, DeclaredType, Definition, DynamicTarget, Instruction, Operation, Terminator,
};
use program::models::{Effect, Times, language};
use program::{Program, summaries};
use rustc_hash::{FxHashMap, FxHashSet};

use super::finish::TaskBodies;
use super::library::has_parallel_streams;

/// How many threads run the object that a thread begins with. The order is that of growing doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskSharing {
    /// One.
    Own,
    /// Nobody knows: it is kept somewhere, and given to threads from there.
    #[default]
    Unknown,
    /// More than one.
    Several,
}

/// How often an object is given to somebody who runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Given {
    #[default]
    Never,
    Once,
    Often,
}

/// What becomes of an object in a method and what it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ObjectUse {
    given: Given,
    /// Whether it is stored, returned, captured, or passed to code that is not known.
    is_kept: bool,
}

/// What a task is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum MadeFrom {
    /// It is an object of this class.
    Class(ClassId),
    /// It is a lambda with this body.
    Lambda(MethodId),
}

/// What callers must know of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct MethodUse {
    /// What becomes of the parameters; those at the end that nothing happens to are left out.
    parameters: Vec<ObjectUse>,
    /// What the result is made from, if it is always a new object, which nobody else has.
    returns_new: Vec<MadeFrom>,
}

/// The classes of tasks, and who runs their objects.
pub(super) struct TaskObjects {
    of_classes: FxHashMap<ClassId, TaskSharing>,
    /// The bodies of lambdas that are given to threads more than once.
    given_often: FxHashSet<MethodId>,
}

impl TaskObjects {
    pub(super) fn of(
        program: &Program,
        graph: &CallGraph,
        task_bodies: &TaskBodies,
        is_reached: &TypedVec<MethodId, bool>,
    ) -> TaskObjects {
        let search = Search { program, graph, task_bodies };
        let count = program.methods.len();
        let methods = summaries::solve(graph, count, |method, known| {
            let Some(body) = program.body(method) else { return MethodUse::default() };
            search.in_method(body, &|callee| known.of(callee)).method_use
        });
        let mut of_classes: FxHashMap<ClassId, TaskSharing> = FxHashMap::default();
        let mut given_often: FxHashSet<MethodId> = FxHashSet::default();
        let mut kept: FxHashSet<ClassId> = FxHashSet::default();
        let mut given_as: BTreeSet<Option<ClassId>> = BTreeSet::new();
        for method in program.methods_with_bodies().filter(|method| is_reached[*method]) {
            let Some(body) = program.body(method) else { continue };
            let found = search.in_method(body, &|callee| &methods[callee]);
            given_as.extend(found.given_as);
            for (made, object_use) in found.objects {
                let class = match made {
                    MadeFrom::Class(class) => class,
                    MadeFrom::Lambda(body) => {
                        if object_use.given == Given::Often {
                            given_often.insert(body);
                        }
                        continue;
                    }
                };
                if object_use.is_kept {
                    kept.insert(class);
                }
                let sharing = match (object_use.given, search.is_thread(class)) {
                    (Given::Never, true) | (Given::Once, false) => TaskSharing::Own,
                    (Given::Never, false) => continue,
                    (Given::Once, true) => TaskSharing::Unknown,
                    (Given::Often, _) => TaskSharing::Several,
                };
                let known = of_classes.entry(class).or_insert(sharing);
                *known = (*known).max(sharing);
            }
        }
        for class in kept {
            let is_given = |given: &Option<ClassId>| match given {
                Some(given) if search.is_thread(class) && !search.is_thread(*given) => false,
                Some(given) => program.hierarchy.is_subtype(class, *given),
                None => !search.is_thread(class),
            };
            if given_as.iter().any(is_given) {
                let known = of_classes.entry(class).or_default();
                *known = (*known).max(TaskSharing::Unknown);
            }
        }
        TaskObjects { of_classes, given_often }
    }

    /// Who runs the objects of which a method is the body.
    pub(super) fn of_body(
        &self,
        program: &Program,
        task_bodies: &TaskBodies,
        body: MethodId,
    ) -> TaskSharing {
        if self.given_often.contains(&body) {
            return TaskSharing::Several;
        }
        let classes = task_bodies.classes_with(body);
        let known = classes.filter_map(|class| self.of_classes.get(&class).copied());
        // A thread is started once, whoever has made it.
        let is_thread = is_thread(program, program.methods[body].class);
        let unseen = if is_thread { TaskSharing::Own } else { TaskSharing::Unknown };
        known.max().unwrap_or(unseen)
    }
}

fn is_thread(program: &Program, class: ClassId) -> bool {
    let thread = program.class_named(language::THREAD);
    thread.is_some_and(|thread| program.hierarchy.is_subtype(class, thread))
}

/// Looks through methods.
struct Search<'a> {
    program: &'a Program,
    graph: &'a CallGraph,
    task_bodies: &'a TaskBodies,
}

/// What is found in one method.
#[derive(Default)]
struct Found {
    method_use: MethodUse,
    /// The tasks that are made here.
    objects: Vec<(MadeFrom, ObjectUse)>,
    /// The types of what is given to a runner without that it is known where it comes from; none if the type is not
    /// known either.
    given_as: BTreeSet<Option<ClassId>>,
}

/// Where an object is given to somebody: block, position in it, how often.
type GivenAt = (BlockId, usize, Given);

/// What becomes of the objects of a method, by the value that they come from.
#[derive(Default)]
struct Uses {
    given: BTreeMap<ValueId, Vec<GivenAt>>,
    kept: BTreeSet<ValueId>,
    returned: BTreeSet<ValueId>,
}

impl Search<'_> {
    fn is_thread(&self, class: ClassId) -> bool {
        is_thread(self.program, class)
    }

    fn in_method<'s>(&self, body: &Body, known: &dyn Fn(MethodId) -> &'s MethodUse) -> Found {
        let mut uses = Uses::default();
        let mut found = Found::default();
        let has_parallel_streams = has_parallel_streams(self.program, body);
        for (block, code) in body.blocks.iter_with_ids() {
            for (position, instruction) in code.instructions.iter().enumerate() {
                self.instruction(
                    body,
                    (block, position, instruction),
                    known,
                    has_parallel_streams,
                    &mut uses,
                    &mut found,
                );
            }
            if let Terminator::Return(Some(value)) = &code.terminator {
                uses.returned.extend(origins(body, *value));
            }
        }
        self.conclude(body, known, &uses, found)
    }

    fn instruction<'s>(
        &self,
        body: &Body,
        (block, position, instruction): (BlockId, usize, &Instruction),
        known: &dyn Fn(MethodId) -> &'s MethodUse,
        has_parallel_streams: bool,
        uses: &mut Uses,
        found: &mut Found,
    ) {
        let program = self.program;
        let call = match &instruction.operation {
            Operation::PutField { value, .. }
            | Operation::PutStatic { value, .. }
            | Operation::ArrayStore { value, .. } => {
                uses.kept.extend(origins(body, *value));
                return;
            }
            Operation::DynamicCall(call) => {
                for argument in &call.arguments {
                    uses.kept.extend(origins(body, *argument));
                }
                return;
            }
            Operation::Call(call) => call,
            _ => return,
        };
        let mut gives: Vec<(ValueId, Given)> = Vec::new();
        for effect in program.effects_of(call.method) {
            let (task, given) = match effect {
                Effect::Wraps { task, .. } => (task, Given::Once),
                Effect::Submit { task, times: Times::Concurrently, .. } => (task, Given::Often),
                Effect::Submit { task, .. } => (task, Given::Once),
                Effect::RunsTask { task, times }
                    if *times == Times::Concurrently || has_parallel_streams =>
                {
                    (task, Given::Often)
                }
                _ => continue,
            };
            let values = program.operand_values(call, *task);
            gives.extend(values.into_iter().map(|value| (value, given)));
        }
        let targets = self.graph.targets(body.method, instruction.offset);
        let mut of_arguments: Vec<ObjectUse> = Vec::new();
        for target in targets.iter().filter(|target| program.body(target.method).is_some()) {
            let parameters = &known(target.method).parameters;
            if target.call_kind == CallKind::Direct {
                of_arguments.resize(of_arguments.len().max(parameters.len()), ObjectUse::default());
                for (known, parameter) in of_arguments.iter_mut().zip(parameters) {
                    known.given = known.given.max(parameter.given);
                    known.is_kept |= parameter.is_kept;
                }
                continue;
            }
            // What the library passes to code that it calls comes from anywhere.
            let Some(callee) = program.body(target.method) else { continue };
            for (number, parameter) in parameters.iter().enumerate() {
                if let (true, Some(value)) =
                    (parameter.given > Given::Never, callee.parameters.get(number))
                {
                    found.given_as.insert(declared_class(program, callee, *value));
                }
            }
        }
        for (object_use, argument) in of_arguments.iter().zip(&call.arguments) {
            if object_use.given > Given::Never {
                gives.push((*argument, object_use.given));
            }
            if object_use.is_kept {
                uses.kept.extend(origins(body, *argument));
            }
        }
        for (value, given) in gives {
            for origin in origins(body, value) {
                uses.given.entry(origin).or_default().push((block, position, given));
                if !self.is_followed(body, origin, known) {
                    found.given_as.insert(declared_class(program, body, origin));
                }
            }
        }
        if targets.is_empty() {
            let has_receiver = !program.methods[call.method].is_static();
            for argument in call.arguments.iter().skip(usize::from(has_receiver)) {
                uses.kept.extend(origins(body, *argument));
            }
        }
    }

    /// Whether it is known, here or in all callers, where a value comes from.
    fn is_followed<'s>(
        &self,
        body: &Body,
        origin: ValueId,
        known: &dyn Fn(MethodId) -> &'s MethodUse,
    ) -> bool {
        matches!(body.definitions[origin], Definition::Parameter(_))
            || !self.made(body, origin, known).is_empty()
    }

    /// What a value is made from, if it is a new object.
    fn made<'s>(
        &self,
        body: &Body,
        origin: ValueId,
        known: &dyn Fn(MethodId) -> &'s MethodUse,
    ) -> Vec<MadeFrom> {
        let Some(instruction) = body.defining_instruction(origin) else { return Vec::new() };
        match &instruction.operation {
            Operation::New(class) => vec![MadeFrom::Class(*class)],
            Operation::DynamicCall(call) => match call.target {
                DynamicTarget::Lambda(lambda) => {
                    vec![MadeFrom::Lambda(self.program.lambdas[lambda].implementation)]
                }
                _ => Vec::new(),
            },
            Operation::Call(_) => {
                let targets = self.graph.targets(body.method, instruction.offset);
                let mut classes = Vec::new();
                for target in targets {
                    let returned = &known(target.method).returns_new;
                    if target.call_kind != CallKind::Direct || returned.is_empty() {
                        return Vec::new();
                    }
                    classes.extend_from_slice(returned);
                }
                classes.sort_unstable();
                classes.dedup();
                classes
            }
            _ => Vec::new(),
        }
    }

    fn conclude<'s>(
        &self,
        body: &Body,
        known: &dyn Fn(MethodId) -> &'s MethodUse,
        uses: &Uses,
        mut found: Found,
    ) -> Found {
        let use_of = |origin: ValueId| {
            let places = uses.given.get(&origin).map_or(&[][..], |places| &places[..]);
            ObjectUse { given: total(body, origin, places), is_kept: uses.kept.contains(&origin) }
        };
        let is_handed_out = |origin: &ValueId| {
            use_of(*origin) == ObjectUse::default() && !self.made(body, *origin, known).is_empty()
        };
        // Whoever calls a factory has the object to himself.
        let is_factory = !uses.returned.is_empty() && uses.returned.iter().all(is_handed_out);
        if is_factory {
            let made = uses.returned.iter().flat_map(|origin| self.made(body, *origin, known));
            found.method_use.returns_new = made.collect::<BTreeSet<_>>().into_iter().collect();
        }
        for (number, parameter) in body.parameters.iter().enumerate() {
            let mut object_use = use_of(*parameter);
            object_use.is_kept |= uses.returned.contains(parameter);
            if object_use != ObjectUse::default() {
                found.method_use.parameters.resize(number, ObjectUse::default());
                found.method_use.parameters.push(object_use);
            }
        }
        for instruction in body.instructions() {
            let (Some(origin), Operation::New(_) | Operation::Call(_) | Operation::DynamicCall(_)) =
                (instruction.result, &instruction.operation)
            else {
                continue;
            };
            let mut object_use = use_of(origin);
            object_use.is_kept |= uses.returned.contains(&origin);
            let is_handed_on = is_factory && uses.returned.contains(&origin);
            for made in self.made(body, origin, known) {
                let is_task = match made {
                    MadeFrom::Class(class) => self.task_bodies.is_task(class),
                    MadeFrom::Lambda(_) => true,
                };
                let is_thread = matches!(made, MadeFrom::Class(class) if self.is_thread(class));
                // Whether somebody gives it to a thread is seen where the factory is called.
                let object_use = match is_handed_on && !is_thread {
                    true => ObjectUse { is_kept: true, ..ObjectUse::default() },
                    false => object_use,
                };
                if is_task {
                    found.objects.push((made, object_use));
                }
            }
        }
        found
    }
}

/// The values that a value may be, casts and phis aside.
fn origins(body: &Body, value: ValueId) -> Vec<ValueId> {
    let mut seen = vec![body.without_casts(value)];
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(value) = seen.get(next).copied() {
        next += 1;
        let Definition::Phi(block) = body.definitions[value] else {
            found.push(value);
            continue;
        };
        let phis = body.blocks[block].phis.iter().filter(|phi| phi.result == value);
        for input in phis.flat_map(|phi| phi.inputs.iter().flatten()) {
            let input = body.without_casts(*input);
            if !seen.contains(&input) {
                seen.push(input);
            }
        }
    }
    found
}

fn declared_class(program: &Program, body: &Body, value: ValueId) -> Option<ClassId> {
    match body.declared_type(program, value) {
        DeclaredType::Class(class) => Some(class),
        DeclaredType::Array | DeclaredType::Unknown => None,
    }
}

/// How often one object is given away at these places. Control that comes back to where the object is made comes back
/// with another one.
fn total(body: &Body, origin: ValueId, places: &[GivenAt]) -> Given {
    let Some(first) = places.first() else { return Given::Never };
    if places.iter().any(|(_, _, given)| *given == Given::Often) {
        return Given::Often;
    }
    let made_in = match body.definitions[origin] {
        Definition::Instruction(block, _) => Some(block),
        Definition::Parameter(_)
        | Definition::Phi(_)
        | Definition::Caught(_)
        | Definition::Removed => None,
    };
    let is_twice = places.iter().any(|(from, at, _)| {
        let reached = reached_from(body, *from, made_in);
        places.iter().any(|(to, position, _)| reached.contains(to) || (from == to && at < position))
    });
    if is_twice { Given::Often } else { first.2 }
}

/// The blocks that control can get to when it leaves a block, without going through another one.
fn reached_from(body: &Body, from: BlockId, without: Option<BlockId>) -> BTreeSet<BlockId> {
    let mut reached = BTreeSet::new();
    let mut todo = vec![from];
    while let Some(block) = todo.pop() {
        let code = &body.blocks[block];
        let handlers = code.handlers.iter().map(|handler| handler.target);
        for next in code.terminator.successors().chain(handlers) {
            if Some(next) != without && reached.insert(next) {
                todo.push(next);
            }
        }
    }
    reached
}
