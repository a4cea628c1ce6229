//! What one library method does with references: sets of values that may be the same object, and what the variables of
//! these objects refer to (Steensgaard's unification, with a variable for each field).

use std::collections::VecDeque;

use classes::bytecode::InvokeKind;
use classes::descriptor::parameter_descriptors;

use super::collect::MOST_TARGETS;
use super::{Called, ExtensionPoints};
use crate::callgraph::{CallGraph, CallKind, Target};
use crate::ids::{ClassId, FieldId, Id, MethodId, ValueId};
use crate::ir::{Body, Call, DeclaredType, DynamicTarget, Instruction, Operation, Terminator};
use crate::references::Immutables;
use crate::summaries::Summaries;
use crate::symbols::Program;
use crate::union_find::UnionFind;
use models::{Effect, Operand};

/// How far from a parameter or result callers know what is kept.
const MOST_STEPS: usize = 5;
/// How many sets callers know, or a few more.
const MOST_NODES: usize = 40;

/// A variable of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum SummarySlot {
    Field(FieldId),
    /// All elements of an array.
    Element,
    /// What a library object keeps, as the models know it.
    Kept,
    /// What an object may keep that was given to an unknown call of it, or came from one. Classes that have no
    /// superclass in common but `Object` have each their own; none for interfaces, arrays and `Object`.
    Unknown(Option<ClassId>),
}

/// A set of values that may be the same object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// What their variables refer to, sorted.
    pub(super) edges: Vec<(SummarySlot, usize)>,
    /// Static fields or other threads keep one.
    pub(super) is_shared: bool,
    /// One was found in a static field.
    pub(super) is_found: bool,
    /// One is made here.
    pub(super) is_fresh: bool,
    /// One is run by another thread.
    pub(super) is_started: bool,
    /// What is called on one; sorted.
    pub(super) called: Vec<Called>,
}

/// What a method does with references, as far as callers can know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) nodes: Vec<Node>,
    /// The receiver first; none for values that are not followed.
    pub(super) parameters: Vec<Option<usize>>,
    pub(super) result: Option<usize>,
}

impl Summary {
    /// What an object keeps, and what that keeps, and so on; the object itself if it is among these.
    pub(super) fn kept_by(&self, node: usize) -> Vec<usize> {
        let mut kept = Vec::new();
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            for (_, target) in &self.nodes[node].edges {
                if !kept.contains(target) {
                    kept.push(*target);
                    todo.push(*target);
                }
            }
        }
        kept
    }
}

/// What summaries are made from.
#[derive(Clone, Copy)]
pub(super) struct SummaryInputs<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a CallGraph,
    pub(super) immutables: &'a Immutables,
    pub(super) extension_points: &'a ExtensionPoints,
}

struct Builder<'a> {
    inputs: SummaryInputs<'a>,
    body: &'a Body,
    summaries: &'a Summaries<'a, Summary>,
    is_reference: Vec<bool>,
    values: Vec<Option<usize>>,
    result: Option<usize>,
    sets: UnionFind,
    /// What is known of each set, at the position of its representative; empty at the others.
    nodes: Vec<Node>,
}

/// Summarises a method.
pub(super) fn summary<'a>(
    inputs: SummaryInputs<'a>,
    body: &'a Body,
    summaries: &'a Summaries<'a, Summary>,
) -> Summary {
    let is_reference = inputs.immutables.references(inputs.program, body);
    let mut builder = Builder {
        inputs,
        body,
        summaries,
        values: vec![None; is_reference.len()],
        is_reference,
        result: None,
        sets: UnionFind::default(),
        nodes: Vec::new(),
    };
    for block in body.blocks.iter() {
        for phi in &block.phis {
            for input in phi.inputs.iter().flatten() {
                builder.assign(phi.result, *input);
            }
        }
        for instruction in &block.instructions {
            builder.instruction(instruction);
        }
        if let Terminator::Return(Some(value)) = &block.terminator
            && let Some(node) = builder.value(*value)
        {
            let result = builder.result;
            result.into_iter().for_each(|result| builder.unify(result, node));
            builder.result = Some(node);
        }
    }
    builder.finish()
}

impl Builder<'_> {
    fn create(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.sets.add() as usize
    }

    fn find(&mut self, node: usize) -> usize {
        self.sets.find(node as u32) as usize
    }

    fn unify(&mut self, one: usize, other: usize) {
        let mut todo = vec![(one, other)];
        while let Some((one, other)) = todo.pop() {
            let (one, other) = (self.find(one), self.find(other));
            if one == other {
                continue;
            }
            self.sets.unite(one as u32, other as u32);
            let gone = std::mem::take(&mut self.nodes[other]);
            let node = &mut self.nodes[one];
            node.is_shared |= gone.is_shared;
            node.is_found |= gone.is_found;
            node.is_fresh |= gone.is_fresh;
            node.is_started |= gone.is_started;
            node.called.extend(gone.called);
            for (slot, theirs) in gone.edges {
                match node.edges.binary_search_by_key(&slot, |(slot, _)| *slot) {
                    Ok(at) => todo.push((node.edges[at].1, theirs)),
                    Err(at) => node.edges.insert(at, (slot, theirs)),
                }
            }
        }
    }

    /// The set of a value; none for values that are not followed.
    fn value(&mut self, value: ValueId) -> Option<usize> {
        if !self.is_reference[value.index()] {
            return None;
        }
        let node = match self.values[value.index()] {
            Some(node) => self.find(node),
            None => self.create(Node::default()),
        };
        self.values[value.index()] = Some(node);
        Some(node)
    }

    /// What a variable of the objects of a set refers to.
    fn target(&mut self, node: usize, slot: SummarySlot) -> usize {
        let node = self.find(node);
        match self.nodes[node].edges.binary_search_by_key(&slot, |(slot, _)| *slot) {
            Ok(at) => self.find(self.nodes[node].edges[at].1),
            Err(at) => {
                let target = self.create(Node::default());
                self.nodes[node].edges.insert(at, (slot, target));
                target
            }
        }
    }

    fn fact(&mut self, node: usize) -> &mut Node {
        let node = self.find(node);
        &mut self.nodes[node]
    }

    fn assign(&mut self, one: ValueId, other: ValueId) {
        if let (Some(one), Some(other)) = (self.value(one), self.value(other)) {
            self.unify(one, other);
        }
    }

    fn refer(&mut self, keeper: ValueId, slot: SummarySlot, kept: ValueId) {
        if let (Some(keeper), Some(kept)) = (self.value(keeper), self.value(kept)) {
            let target = self.target(keeper, slot);
            self.unify(target, kept);
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let result = instruction.result;
        match &instruction.operation {
            Operation::GetField { object, field } => {
                let slot = SummarySlot::Field(*field);
                result.into_iter().for_each(|result| self.refer(*object, slot, result));
            }
            Operation::ArrayLoad { array, .. } => {
                result
                    .into_iter()
                    .for_each(|result| self.refer(*array, SummarySlot::Element, result));
            }
            Operation::PutField { object, field, value } => {
                self.refer(*object, SummarySlot::Field(*field), *value);
            }
            Operation::ArrayStore { array, value, .. } => {
                self.refer(*array, SummarySlot::Element, *value);
            }
            Operation::GetStatic(_) => {
                if let Some(node) = result.and_then(|result| self.value(result)) {
                    self.fact(node).is_found = true;
                }
            }
            Operation::PutStatic { value, .. } => {
                if let Some(node) = self.value(*value) {
                    self.fact(node).is_shared = true;
                }
            }
            Operation::New(_) | Operation::NewArray { .. } => {
                if let Some(node) = result.and_then(|result| self.value(result)) {
                    self.fact(node).is_fresh = true;
                }
            }
            Operation::Cast { value, .. } => {
                result.into_iter().for_each(|result| self.assign(result, *value));
            }
            Operation::Call(call) => self.call(instruction, call),
            Operation::DynamicCall(call) => {
                let Some(result) = result else { return };
                if let Some(node) = self.value(result) {
                    self.fact(node).is_fresh = true;
                }
                if matches!(call.target, DynamicTarget::Lambda(_)) {
                    for captured in &call.arguments {
                        self.refer(result, SummarySlot::Kept, *captured);
                    }
                }
            }
            Operation::Constant(_)
            | Operation::ArrayLength(_)
            | Operation::InstanceOf { .. }
            | Operation::Binary { .. }
            | Operation::Unary(_)
            | Operation::Compare(..)
            | Operation::MonitorEnter(_)
            | Operation::MonitorExit(_) => {}
        }
    }

    fn call(&mut self, instruction: &Instruction, call: &Call) {
        let SummaryInputs { program, graph, extension_points, .. } = self.inputs;
        let is_dispatched = matches!(call.kind, InvokeKind::Virtual | InvokeKind::Interface);
        if is_dispatched
            && extension_points.methods.contains(&call.method)
            && let Some(receiver) = call.arguments.first().and_then(|it| self.value(*it))
        {
            self.fact(receiver).called.push(Called::Method(call.method));
        }
        if program.is_known(call.method) {
            self.modelled(instruction, call, call.method);
            return;
        }
        let targets = graph.targets(self.body.method, instruction.offset);
        let is_many = targets.len() > MOST_TARGETS;
        let is_told = !is_many && targets.iter().any(|target| target.method == call.method);
        // Classes of the application may inherit what no class of the library does.
        if program.body(call.method).is_some() && !is_told {
            self.embed(instruction, call, call.method);
        }
        if is_many {
            self.unknown(instruction, call);
            return;
        }
        let mut is_followed = !targets.is_empty();
        for Target { method, call_kind } in targets {
            if *call_kind != CallKind::Direct {
                // What a lambda of the library captured is kept by it, and it keeps what it is given.
                is_followed = false;
            } else if program.is_known(*method) {
                self.modelled(instruction, call, *method);
            } else if program.body(*method).is_some() {
                self.embed(instruction, call, *method);
            } else {
                is_followed = false;
            }
        }
        if !is_followed {
            self.unknown(instruction, call);
        }
    }

    /// A call of a method whose code was read.
    fn embed(&mut self, instruction: &Instruction, call: &Call, method: MethodId) {
        let summary = self.summaries.of(method);
        let base = self.nodes.len();
        for node in &summary.nodes {
            let edges = node.edges.iter().map(|(slot, target)| (*slot, base + target)).collect();
            self.create(Node { edges, ..node.clone() });
        }
        for (parameter, argument) in summary.parameters.iter().zip(&call.arguments) {
            if let (Some(parameter), Some(argument)) = (parameter, self.value(*argument)) {
                self.unify(base + parameter, argument);
            }
        }
        let result = instruction.result.and_then(|result| self.value(result));
        if let (Some(returned), Some(result)) = (summary.result, result) {
            self.unify(base + returned, result);
        }
    }

    /// A call of which nothing is known but its types.
    fn unknown(&mut self, instruction: &Instruction, call: &Call) {
        let program = self.inputs.program;
        let has_receiver = call.kind != InvokeKind::Static;
        let arguments = &call.arguments[usize::from(has_receiver).min(call.arguments.len())..];
        let descriptor = &program.methods[call.method].descriptor;
        for (argument, parameter) in arguments.iter().zip(parameter_descriptors(descriptor)) {
            let class = program.class_of_descriptor(parameter);
            let extension_points =
                class.filter(|class| self.inputs.extension_points.types.contains(class));
            if let (Some(class), Some(node)) = (extension_points, self.value(*argument)) {
                self.fact(node).called.push(Called::Any(class));
            }
        }
        if let Some(receiver) = call.arguments.first().filter(|_| has_receiver) {
            for kept in arguments.iter().chain(&instruction.result) {
                self.refer(*receiver, SummarySlot::Unknown(self.kind_of(*kept)), *kept);
            }
        } else if let Some(result) = instruction.result {
            let wanted = self.body.declared_type(program, result);
            for argument in arguments {
                let declared = self.body.declared_type(program, *argument);
                if program.hierarchy.can_be_one(wanted, declared) {
                    self.assign(result, *argument);
                }
            }
        }
    }

    /// The topmost superclass of what a value is declared as, below `Object`.
    fn kind_of(&self, value: ValueId) -> Option<ClassId> {
        let program = self.inputs.program;
        let DeclaredType::Class(class) = self.body.declared_type(program, value) else {
            return None;
        };
        if program.classes[class].is_interface() {
            return None;
        }
        let mut above: Vec<ClassId> = program.hierarchy.superclasses(class).collect();
        above.pop();
        above.pop()
    }

    fn modelled(&mut self, instruction: &Instruction, call: &Call, method: MethodId) {
        let effects = self.inputs.program.effects_of(method);
        // Each thread has its own: what one puts in, no other takes out.
        let is_local =
            effects.iter().any(|effect| matches!(effect, Effect::ThreadLocalAccess { .. }));
        for effect in effects {
            match *effect {
                Effect::Store { value, into } | Effect::Wraps { task: value, by: into }
                    if !is_local =>
                {
                    self.relate(instruction, call, into, value);
                }
                Effect::Load { from } if !is_local => {
                    self.relate(instruction, call, from, Operand::Result);
                }
                Effect::Handle { of } => self.relate(instruction, call, Operand::Result, of),
                Effect::View { of } | Effect::LockView { of, .. } => {
                    let result = self.operand(instruction, call, Operand::Result);
                    for viewed in self.operand(instruction, call, of) {
                        result.iter().for_each(|result| self.unify(viewed, *result));
                    }
                }
                Effect::ConditionOf { lock } => {
                    self.relate(instruction, call, lock, Operand::Result);
                }
                Effect::Fork { task } | Effect::Submit { task, .. } => {
                    for task in self.operand(instruction, call, task) {
                        let node = self.fact(task);
                        (node.is_shared, node.is_started) = (true, true);
                    }
                }
                Effect::RunsTask { .. } => self.run_tasks(call, method),
                Effect::AtomicRead { of: Operand::Designated, .. }
                | Effect::AtomicWrite { of: Operand::Designated, .. }
                | Effect::AtomicUpdate { of: Operand::Designated, .. } => {
                    self.designated(instruction, call);
                }
                Effect::Escapes { operand } => {
                    for node in self.operand(instruction, call, operand) {
                        self.fact(node).is_shared = true;
                    }
                }
                Effect::ReturnsFresh => {
                    for node in self.operand(instruction, call, Operand::Result) {
                        self.fact(node).is_fresh = true;
                    }
                }
                // References stay where they are.
                Effect::Acquire { .. }
                | Effect::Release { .. }
                | Effect::Synchronized { .. }
                | Effect::Wait { .. }
                | Effect::Notify { .. }
                | Effect::Store { .. }
                | Effect::Load { .. }
                | Effect::Wraps { .. }
                | Effect::Feeds { .. }
                | Effect::Join { .. }
                | Effect::After { .. }
                | Effect::Interrupt { .. }
                | Effect::ObservesInterrupt { .. }
                | Effect::Controls { .. }
                | Effect::Terminates
                | Effect::Publish { .. }
                | Effect::Receive { .. }
                | Effect::AtomicRead { .. }
                | Effect::AtomicWrite { .. }
                | Effect::AtomicUpdate { .. }
                | Effect::Fence { .. }
                | Effect::Read { .. }
                | Effect::Write { .. }
                | Effect::ThreadLocalAccess { .. }
                | Effect::Blocks { .. }
                | Effect::Sleeps
                | Effect::Reflective
                | Effect::ReturnsType { .. }
                | Effect::SingleWorker
                | Effect::Parallel
                | Effect::Sequential => {}
            }
        }
    }

    /// The callbacks of a modelled method are called.
    fn run_tasks(&mut self, call: &Call, method: MethodId) {
        let SummaryInputs { program, extension_points, .. } = self.inputs;
        let descriptor = &program.methods[method].descriptor;
        let has_receiver = usize::from(call.kind != InvokeKind::Static);
        for (number, class) in program.models().task_arguments(descriptor) {
            let task = call.arguments.get(usize::from(number) + has_receiver);
            let class =
                program.class_named(class).filter(|class| extension_points.types.contains(class));
            if let (Some(task), Some(class)) = (task.and_then(|it| self.value(*it)), class) {
                self.fact(task).called.push(Called::Any(class));
            }
        }
    }

    /// A variable of some object is read or written through a handle or an updater: the object is the first argument
    /// after that, and refers to the other arguments and to the result.
    fn designated(&mut self, instruction: &Instruction, call: &Call) {
        let has_receiver = usize::from(call.kind != InvokeKind::Static);
        let mut given = call.arguments.iter().skip(has_receiver);
        let Some(object) = given.find(|it| self.is_reference[it.index()]) else { return };
        for value in given.chain(&instruction.result) {
            self.refer(*object, SummarySlot::Kept, *value);
        }
    }

    /// One operand keeps another.
    fn relate(&mut self, instruction: &Instruction, call: &Call, keeper: Operand, kept: Operand) {
        let slot = match keeper {
            Operand::Result => {
                instruction.result.map_or(SummarySlot::Kept, |it| self.kept_slot(it))
            }
            keeper => {
                let values = self.inputs.program.operand_values(call, keeper);
                values.first().map_or(SummarySlot::Kept, |it| self.kept_slot(*it))
            }
        };
        for keeper in self.operand(instruction, call, keeper) {
            let inside = self.target(keeper, slot);
            for kept in self.operand(instruction, call, kept) {
                self.unify(inside, kept);
            }
        }
    }

    fn operand(&mut self, instruction: &Instruction, call: &Call, operand: Operand) -> Vec<usize> {
        let program = self.inputs.program;
        let (of, is_inside) = match operand {
            Operand::Elements(number) => (Operand::Argument(number), true),
            Operand::Contents | Operand::Wrapped => (Operand::Receiver, true),
            Operand::Field(_) => (Operand::Receiver, false),
            operand => (operand, false),
        };
        let values = match of {
            Operand::Result => instruction.result.into_iter().collect(),
            of => program.operand_values(call, of),
        };
        let nodes = values.into_iter().filter_map(|value| {
            let node = self.value(value)?;
            let slot = self.kept_slot(value);
            Some(if is_inside { self.target(node, slot) } else { node })
        });
        nodes.collect()
    }

    /// The variable that an object keeps things in, as the models know it.
    fn kept_slot(&self, value: ValueId) -> SummarySlot {
        match self.body.declared_type(self.inputs.program, value) {
            DeclaredType::Array => SummarySlot::Element,
            DeclaredType::Class(_) | DeclaredType::Unknown => SummarySlot::Kept,
        }
    }

    /// Keeps what callers can know.
    fn finish(mut self) -> Summary {
        let body = self.body;
        let parameters: Vec<Option<usize>> =
            body.parameters.iter().map(|parameter| self.value(*parameter)).collect();
        self.share_what_is_kept();
        let mut summary = Summary::default();
        let mut numbers = vec![None; self.nodes.len()];
        let ends = parameters.iter().copied().chain([self.result]);
        let mut todo: VecDeque<(usize, usize)> = VecDeque::new();
        let mut ends: Vec<Option<usize>> = ends
            .map(|end| {
                let end = self.find(end?);
                todo.push_back((end, 0));
                Some(end)
            })
            .collect();
        // Nearest first: where that is cut, summaries lack what is far away.
        let mut kept = Vec::new();
        while let Some((node, steps)) = todo.pop_front() {
            if numbers[node].is_some() {
                continue;
            }
            numbers[node] = Some(kept.len());
            kept.push(node);
            if steps < MOST_STEPS && kept.len() < MOST_NODES {
                for (_, target) in self.nodes[node].edges.clone() {
                    todo.push_back((self.find(target), steps + 1));
                }
            }
        }
        for node in kept {
            let mut copy = self.nodes[node].clone();
            copy.called.sort_unstable();
            copy.called.dedup();
            copy.edges = copy
                .edges
                .into_iter()
                .filter_map(|(slot, target)| Some((slot, numbers[self.find(target)]?)))
                .collect();
            summary.nodes.push(copy);
        }
        for end in &mut ends {
            *end = end.and_then(|end| numbers[end]);
        }
        summary.result = ends.pop().flatten();
        summary.parameters = ends;
        summary
    }

    /// Whatever is kept by something shared, or by something that was found in a static field, is shared. Unknown calls
    /// are assumed not to share: the library has many services in static fields.
    fn share_what_is_kept(&mut self) {
        let is_sharing = |node: &Node| node.is_shared || node.is_found;
        let mut todo: Vec<usize> =
            (0..self.nodes.len()).filter(|at| is_sharing(&self.nodes[*at])).collect();
        while let Some(node) = todo.pop() {
            for (slot, target) in self.nodes[node].edges.clone() {
                let target = self.find(target);
                if matches!(slot, SummarySlot::Unknown(_)) {
                    continue;
                }
                if !std::mem::replace(&mut self.nodes[target].is_shared, true) {
                    todo.push(target);
                }
            }
        }
    }
}
