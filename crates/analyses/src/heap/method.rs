//! The shape of one method (dissertation, 3.3.2 and Figures 3.3, 3.5, 3.7).
//!
//! Statements are gone through in any order: assignments make alias sets one, accesses make variables of them, calls
//! clone what callers can know of the callee's shape and unify it with the arguments.
//!
//! Deviations from the dissertation:
//! 1. Recursion. There, a component of the call graph shares one summary. Here, calls inside a component clone the
//!    summary of the round before, for a few rounds: in today's programs thousands of methods are in one component,
//!    and sharing would take everything for one object. Aliases that only deeper recursion makes are missed.
//! 2. A call with very many targets sees little of each of them (`HeapLimits::signature_only_above`).
//! 3. Callers get to know a shape only up to a distance from the parameters and results, and up to a size
//!    (`HeapLimits::most_steps`, `HeapLimits::most_exposed`). What lies further away is found again from the abstract
//!    objects on the way; aliases that a callee makes out there are missed. Without that, every method of a large
//!    program knows everything: 90 nodes a method and more, and minutes.
//! 4. Objects that never change are left out. Who catches an exception gets an object of its own, not the one that
//!    was thrown: taken together, the exceptions of a large program and all that they carry along are one object, and
//!    threads hardly ever share them.

use classes::bytecode::InvokeKind;
use program::callgraph::{CallGraph, CallKind, Target};
use program::ids::{ClassId, Id, LambdaId, MethodId, ValueId};
use program::ir::{Body, Call, Constant, DynamicTarget, Instruction, Operation, Terminator};
use program::{Immutables, Program};
use rustc_hash::FxHashMap;

use super::alias_sets::AliasSets;
use super::finish::TaskBodies;
use super::{HeapLimits, Name, NameRoot, Node, NodeId, Shape, Slot};
use crate::sorted::insert;

/// What the shape of a method is made from.
#[derive(Clone, Copy)]
pub(super) struct ShapeInputs<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a CallGraph,
    pub(super) immutables: &'a Immutables,
    pub(super) limits: &'a HeapLimits,
    pub(super) bodies: &'a TaskBodies,
    /// The shapes of callees.
    pub(super) shape_of: &'a dyn Fn(MethodId) -> &'a Shape,
}

/// A shape under construction.
pub(super) struct Builder<'a> {
    pub(super) inputs: ShapeInputs<'a>,
    pub(super) body: &'a Body,
    pub(super) sets: AliasSets,
    is_reference: Vec<bool>,
    pub(super) values: Vec<Option<NodeId>>,
    classes: FxHashMap<ClassId, NodeId>,
    pub(super) result: Option<NodeId>,
    /// Tasks that executors are given: the executor, the task.
    pub(super) submissions: Vec<(NodeId, NodeId)>,
    /// If references in the first set leave their host, so do those in the second, which are kept by the first.
    kept_by: Vec<(NodeId, NodeId)>,
    /// Whether some stream of this method is parallel, so that callbacks of streams run concurrently.
    pub(super) has_parallel_streams: bool,
}

/// Computes the shape of a method with a body.
pub(super) fn shape<'a>(inputs: ShapeInputs<'a>, body: &'a Body) -> Shape {
    let is_reference = inputs.immutables.references(inputs.program, body);
    let mut builder = Builder {
        inputs,
        body,
        sets: AliasSets::default(),
        values: vec![None; is_reference.len()],
        is_reference,
        classes: FxHashMap::default(),
        result: None,
        submissions: Vec::new(),
        kept_by: Vec::new(),
        has_parallel_streams: super::library::has_parallel_streams(inputs.program, body),
    };
    for parameter in &body.parameters {
        builder.node(*parameter);
    }
    let method = &inputs.program.methods[body.method];
    if method.is_synchronized() {
        if method.is_static() {
            let class = builder.class_object(method.class);
            builder.sets.node(class).flags.is_locked = true;
        } else {
            builder.lock(body.parameters.first().copied());
        }
    }
    for block in body.blocks.iter() {
        for phi in &block.phis {
            for input in phi.inputs.iter().flatten() {
                builder.assign(phi.result, *input);
            }
        }
        for instruction in &block.instructions {
            builder.instruction(instruction);
        }
        match &block.terminator {
            Terminator::Return(Some(value)) => {
                if let Some(node) = builder.node(*value) {
                    builder.sets.node(node).flags.escapes_object = true;
                    match builder.result {
                        Some(result) => builder.sets.unify(result, node),
                        None => builder.result = Some(node),
                    }
                }
            }
            Terminator::Throw(_)
            | Terminator::Return(None)
            | Terminator::Goto(_)
            | Terminator::Branch { .. }
            | Terminator::Switch { .. } => {}
        }
    }
    builder.note_kept_parameters();
    builder.spread_object_escapes();
    super::finish::finish(builder)
}

impl Builder<'_> {
    /// The alias set of a value; none for values that are not followed.
    pub(super) fn node(&mut self, value: ValueId) -> Option<NodeId> {
        if !self.is_reference[value.index()] {
            return None;
        }
        let node = match self.values[value.index()] {
            Some(node) => self.sets.find(node),
            None => self.sets.create(),
        };
        self.values[value.index()] = Some(node);
        Some(node)
    }

    /// The alias set of a class.
    pub(super) fn class_object(&mut self, class: ClassId) -> NodeId {
        if let Some(node) = self.classes.get(&class) {
            return *node;
        }
        let node = self.sets.create();
        self.sets.name(node, Name::new(NameRoot::Class(class)));
        self.classes.insert(class, node);
        node
    }

    fn assign(&mut self, one: ValueId, other: ValueId) {
        if let (Some(one), Some(other)) = (self.node(one), self.node(other)) {
            self.sets.unify(one, other);
        }
    }

    fn is_parameter(&self, value: ValueId) -> bool {
        self.body.parameters.contains(&self.body.without_casts(value))
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let program = self.inputs.program;
        match &instruction.operation {
            Operation::GetField { object, field } => {
                let Some(base) = self.node(*object) else { return };
                let slot = Slot::Field(*field);
                self.sets.touch(base, slot, !program.fields[*field].is_final(), false);
                if let Some(value) = instruction.result {
                    self.refer(base, slot, value, Some(*object));
                }
            }
            Operation::PutField { object, field, value } => {
                let Some(base) = self.node(*object) else { return };
                let slot = Slot::Field(*field);
                self.sets.touch(base, slot, false, !program.fields[*field].is_final());
                self.refer(base, slot, *value, Some(*object));
            }
            Operation::GetStatic(field) => {
                let class = self.class_object(program.fields[*field].class);
                let slot = Slot::Field(*field);
                self.sets.touch(class, slot, !program.fields[*field].is_final(), false);
                if let Some(value) = instruction.result {
                    self.refer(class, slot, value, None);
                }
            }
            Operation::PutStatic { field, value } => {
                let class = self.class_object(program.fields[*field].class);
                let slot = Slot::Field(*field);
                self.sets.touch(class, slot, false, !program.fields[*field].is_final());
                self.refer(class, slot, *value, None);
            }
            Operation::ArrayLoad { array, .. } => {
                let Some(base) = self.node(*array) else { return };
                self.sets.touch(base, Slot::Element, true, false);
                if let Some(value) = instruction.result {
                    self.refer(base, Slot::Element, value, Some(*array));
                }
            }
            Operation::ArrayStore { array, value, .. } => {
                let Some(base) = self.node(*array) else { return };
                self.sets.touch(base, Slot::Element, false, true);
                self.refer(base, Slot::Element, *value, Some(*array));
            }
            Operation::New(class) => {
                let Some(node) = instruction.result.and_then(|result| self.node(result)) else {
                    return;
                };
                self.sets.class(node, *class);
                self.sets.node(node).flags.is_allocated = true;
            }
            Operation::NewArray { lengths, .. } => {
                let Some(mut node) = instruction.result.and_then(|result| self.node(result)) else {
                    return;
                };
                self.sets.node(node).flags.is_allocated = true;
                for _ in 1..lengths.len() {
                    node = self.sets.target(node, Slot::Element);
                    self.sets.node(node).flags.is_allocated = true;
                }
            }
            Operation::Cast { value, .. } => {
                if let Some(result) = instruction.result {
                    self.assign(result, *value);
                }
            }
            Operation::MonitorEnter(object) => match self.class_literal(*object) {
                Some(class) => {
                    let node = self.class_object(class);
                    self.sets.node(node).flags.is_locked = true;
                }
                None => self.lock(Some(*object)),
            },
            Operation::Call(call) => self.call(instruction, call),
            Operation::DynamicCall(call) => {
                let Some(node) = instruction.result.and_then(|result| self.node(result)) else {
                    return;
                };
                self.sets.node(node).flags.is_allocated = true;
                if let DynamicTarget::Lambda(lambda) = call.target {
                    self.sets.lambda(node, lambda);
                    for (number, argument) in call.arguments.iter().enumerate() {
                        if let Some(argument) = self.node(*argument) {
                            let captured = self.sets.target(node, Slot::Captured(number as u16));
                            self.sets.unify(captured, argument);
                        }
                    }
                }
            }
            Operation::Constant(_)
            | Operation::ArrayLength(_)
            | Operation::InstanceOf { .. }
            | Operation::Binary { .. }
            | Operation::Unary(_)
            | Operation::Compare(..)
            | Operation::MonitorExit(_) => {}
        }
    }

    /// A variable of the objects of a set refers to a value. `through` is the value that the objects are known by; none
    /// for classes.
    fn refer(&mut self, base: NodeId, slot: Slot, value: ValueId, through: Option<ValueId>) {
        let Some(node) = self.node(value) else { return };
        let target = self.sets.target(base, slot);
        self.sets.unify(target, node);
        match through {
            Some(object) if self.body.is_receiver(self.inputs.program, object) => {}
            Some(object) if self.is_parameter(object) => {
                self.sets.node(node).flags.escapes_object = true;
            }
            Some(_) => self.kept_by.push((base, node)),
            None => self.sets.node(node).flags.escapes_object = true,
        }
    }

    fn call(&mut self, instruction: &Instruction, call: &Call) {
        let ShapeInputs { program, graph, limits, shape_of, .. } = self.inputs;
        let method = self.body.method;
        let targets = graph.targets(method, instruction.offset);
        let is_thin = targets.len() > limits.signature_only_above;
        for target in targets {
            if program.body(target.method).is_some() {
                self.embed(shape_of(target.method), instruction, call, target, is_thin);
            }
        }
        let declared = &program.methods[call.method];
        let is_library = program.body(call.method).is_none();
        if declared.is_synchronized() && call.kind != InvokeKind::Static {
            self.lock(call.arguments.first().copied());
        }
        if is_library {
            self.library_call(instruction, call);
        }
        if let Some(result) = instruction.result.and_then(|result| self.node(result))
            && !is_library
        {
            self.sets.node(result).flags.escapes_object = true;
        }
    }

    /// The class that a class literal is. Nobody can change it, but it is a lock.
    fn class_literal(&self, value: ValueId) -> Option<ClassId> {
        let body = self.body;
        match body.defining_instruction(body.without_casts(value))?.operation {
            Operation::Constant(Constant::Class(class)) => Some(class),
            _ => None,
        }
    }

    fn lock(&mut self, value: Option<ValueId>) {
        if let Some(node) = value.and_then(|value| self.node(value)) {
            self.sets.node(node).flags.is_locked = true;
        }
    }

    /// Clones what callers can know of a shape, and unifies it with the arguments of a call (the dissertation's method
    /// context).
    fn embed(
        &mut self,
        shape: &Shape,
        instruction: &Instruction,
        call: &Call,
        target: &Target,
        is_thin: bool,
    ) {
        let kept = if is_thin { signature_node_count(shape) } else { shape.exposed };
        let base = self.sets.len();
        let moved = |node: NodeId| (node.index() < kept).then(|| NodeId::new(base + node.index()));
        for node in &shape.nodes[..kept] {
            // Effects on a named object are recorded once, by the method that names it.
            if !node.names.is_empty() {
                let names = node.names.clone();
                self.sets.add(Node { names, flags: node.flags, ..Node::default() });
                continue;
            }
            let mut copy = node.clone();
            for edge in &mut copy.edges {
                edge.target = edge.target.and_then(moved);
            }
            self.sets.add(copy);
        }
        for (number, parameter) in shape.parameters.iter().enumerate() {
            let Some(parameter) = parameter.and_then(moved) else { continue };
            if let Some(argument) = self.argument(call, target, number as u16) {
                self.sets.unify(argument, parameter);
            }
        }
        if let (Some(result), Some(given)) = (instruction.result, shape.result.and_then(moved))
            && matches!(target.call_kind, CallKind::Direct | CallKind::Lambda(_))
            && let Some(node) = self.node(result)
        {
            self.sets.unify(node, given);
        }
        if target.call_kind.is_by_library()
            && let Some(given) = shape.result.and_then(moved)
        {
            self.callback_result(instruction, call, given);
        }
    }

    /// The alias set that a parameter of a call's target gets.
    fn argument(&mut self, call: &Call, target: &Target, number: u16) -> Option<NodeId> {
        let position = usize::from(number);
        let captured = |lambda: LambdaId| self.inputs.program.lambdas[lambda].captured;
        match target.call_kind {
            CallKind::Direct => self.node(*call.arguments.get(position)?),
            CallKind::Lambda(lambda) => match position.checked_sub(captured(lambda)) {
                // The arguments of the call follow, without the lambda itself.
                Some(position) => self.node(*call.arguments.get(position + 1)?),
                None => self.captured(*call.arguments.first()?, number),
            },
            CallKind::Callback { lambda, argument, .. } => {
                if position < captured(lambda) {
                    return self.captured(*call.arguments.get(usize::from(argument))?, number);
                }
                self.callback_argument(call)
            }
            CallKind::CalledBack { argument, is_kept } => {
                let value = *call.arguments.get(usize::from(argument))?;
                let node = self.node(value).filter(|_| position == 0)?;
                Some(if is_kept { self.sets.target(node, self.kept_slot(value)) } else { node })
            }
        }
    }

    fn captured(&mut self, lambda: ValueId, number: u16) -> Option<NodeId> {
        let lambda = self.node(lambda)?;
        Some(self.sets.target(lambda, Slot::Captured(number)))
    }

    /// What an object keeps and was given, others gave, and may keep as well.
    fn note_kept_parameters(&mut self) {
        let kept: Vec<NodeId> = self.sets.targets();
        let is_static = self.inputs.program.methods[self.body.method].is_static();
        for parameter in self.body.parameters.iter().skip(usize::from(!is_static)) {
            if let Some(node) = self.node(*parameter)
                && kept.binary_search(&node).is_ok()
            {
                self.sets.node(node).flags.escapes_object = true;
            }
        }
    }

    /// A reference that leaves its host takes along what is kept by it.
    fn spread_object_escapes(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for at in 0..self.kept_by.len() {
                let (base, node) = self.kept_by[at];
                if self.sets.node(base).flags.escapes_object
                    && !self.sets.node(node).flags.escapes_object
                {
                    self.sets.node(node).flags.escapes_object = true;
                    changed = true;
                }
            }
        }
    }

    /// Notes that an executor was given a task.
    pub(super) fn submit(&mut self, executor: Option<NodeId>, task: NodeId) {
        self.sets.node(task).flags.is_started = true;
        if let Some(executor) = executor {
            self.submissions.push((executor, task));
        }
    }

    /// Adds the bodies of the tasks that executors were given, once they are known.
    pub(super) fn settle_submissions(&mut self) {
        for (executor, task) in std::mem::take(&mut self.submissions) {
            let bodies: Vec<MethodId> = self
                .sets
                .node(task)
                .names
                .iter()
                .filter_map(|name| match name.root {
                    NameRoot::Task(body) if name.path().next().is_none() => Some(body),
                    NameRoot::Task(_)
                    | NameRoot::Class(_)
                    | NameRoot::Outside(_)
                    | NameRoot::Library(_)
                    | NameRoot::BeyondDepth => None,
                })
                .collect();
            for body in bodies {
                insert(&mut self.sets.node(executor).runs, body);
            }
        }
    }
}

/// How many nodes a call with very many targets sees of each: the parameters and the result.
fn signature_node_count(shape: &Shape) -> usize {
    let exposed_roots = shape.parameters.iter().copied().chain([shape.result]);
    exposed_roots.flatten().map(|node| node.index() + 1).max().unwrap_or(0).min(shape.exposed)
}
