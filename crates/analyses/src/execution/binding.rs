//! What the alias sets of a method are in a context: which abstract objects, or nothing that threads share
//! (dissertation, 3.4.1: the operation *embed*).
//!
//! A shape says what a method does to its arguments; a binding says what the arguments are. The alias sets that
//! callers can know are bound by walking the shapes of caller and callee side by side, from arguments and
//! result on. The others have names, or follow from what is bound by the variables that lead to them.
//!
//! Deviations. 1. The dissertation clones the callee's summary into the caller's context at each call. Here
//! the shape of the caller holds these clones already, and only the correspondence is looked up, once for
//! each call and target.

use program::callgraph::{CallKind, Target};
use program::ids::{ClassId, Id, ValueId};
use program::ir::{Body, Call};
use program::models::{Effect, Operand};
use program::{LambdaKind, Program};

use crate::heap::{Heap, Name, NameRoot, Node, NodeId, ObjectId, Shape, Slot};
use crate::locks::expression::{self, LockExpression, PathElement};

/// What an instruction handles: an object that is the same in all contexts, or an alias set whose object
/// depends on the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum AbstractValue {
    /// A fixed object.
    Object(ObjectId),
    /// An alias set of the method at hand.
    Node(NodeId),
}

impl AbstractValue {
    /// The object in a context, given what its alias sets are.
    pub(super) fn object(self, objects: &[Option<ObjectId>]) -> Option<ObjectId> {
        match self {
            AbstractValue::Object(object) => Some(object),
            AbstractValue::Node(node) => objects.get(node.index()).copied().flatten(),
        }
    }
}

/// The abstract object of a class.
pub(super) fn class_object(heap: &Heap, class: ClassId) -> Option<ObjectId> {
    heap.named(&Name::new(NameRoot::Class(class)))
}

/// One body and its shape: finds the abstract value of each value.
#[derive(Clone, Copy)]
pub(super) struct BodyValues<'a> {
    pub(super) program: &'a Program,
    pub(super) heap: &'a Heap,
    pub(super) body: &'a Body,
    pub(super) shape: &'a Shape,
}

impl<'a> BodyValues<'a> {
    pub(super) fn new(program: &'a Program, heap: &'a Heap, body: &'a Body) -> BodyValues<'a> {
        BodyValues { program, heap, body, shape: &heap.shapes[body.method] }
    }

    /// What an alias set is.
    pub(super) fn of_node(&self, node: NodeId) -> AbstractValue {
        match self.heap.fixed(&self.shape[node]) {
            Some(object) => AbstractValue::Object(object),
            None => AbstractValue::Node(node),
        }
    }

    /// What a value is.
    pub(super) fn of_value(&self, value: ValueId) -> Option<AbstractValue> {
        self.shape.node_of(value).map(|node| self.of_node(node))
    }

    /// What a variable leads to.
    pub(super) fn follow(&self, subject: AbstractValue, slot: Slot) -> Option<AbstractValue> {
        match subject {
            AbstractValue::Node(node) => {
                self.shape[node].target(slot).map(|node| self.of_node(node))
            }
            AbstractValue::Object(object) => {
                self.heap.target(object, slot).map(AbstractValue::Object)
            }
        }
    }

    /// What a locking expression names.
    pub(super) fn of_expression(&self, expression: &LockExpression) -> Option<AbstractValue> {
        let mut subject = match expression.root {
            expression::ExpressionRoot::Parameter(number) => {
                let node = *self.shape.parameters.get(usize::from(number))?;
                self.of_node(node?)
            }
            expression::ExpressionRoot::Static(field) => {
                let class = class_object(self.heap, self.program.fields[field].class)?;
                self.follow(AbstractValue::Object(class), Slot::Field(field))?
            }
            expression::ExpressionRoot::Class(class) => {
                AbstractValue::Object(class_object(self.heap, class)?)
            }
            expression::ExpressionRoot::Local(value) => self.of_value(value)?,
        };
        for step in expression.steps() {
            if let Some(slot) = slot_of(step) {
                subject = self.follow(subject, slot)?;
            }
        }
        Some(subject)
    }

    /// The value that an operand of a call is, when it is one.
    pub(super) fn operand_value(&self, call: &Call, operand: Operand) -> Option<ValueId> {
        let has_receiver = usize::from(!self.program.methods[call.method].is_static());
        match operand {
            Operand::Receiver | Operand::Field(_) => call.arguments.first().copied(),
            Operand::Argument(number) => {
                call.arguments.get(usize::from(number) + has_receiver).copied()
            }
            Operand::Elements(_)
            | Operand::Contents
            | Operand::Callbacks
            | Operand::Wrapped
            | Operand::CallbackResult
            | Operand::Result
            | Operand::Class
            | Operand::Designated
            | Operand::CurrentThread => None,
        }
    }

    /// What an operand of a call is.
    pub(super) fn operand(
        &self,
        call: &Call,
        result: Option<ValueId>,
        operand: Operand,
    ) -> Vec<AbstractValue> {
        let argument = |operand| self.of_value(self.operand_value(call, operand)?);
        let kept = |subject: AbstractValue| {
            let element = self.follow(subject, Slot::Contents);
            element.or_else(|| self.follow(subject, Slot::Element))
        };
        match operand {
            Operand::Receiver | Operand::Argument(_) | Operand::Field(_) => {
                argument(operand).into_iter().collect()
            }
            Operand::Elements(number) => {
                argument(Operand::Argument(number)).and_then(kept).into_iter().collect()
            }
            Operand::Contents => argument(Operand::Receiver).and_then(kept).into_iter().collect(),
            Operand::Callbacks => {
                let callbacks = self.program.operand_values(call, operand).into_iter();
                callbacks.filter_map(|value| self.of_value(value)).collect()
            }
            Operand::Wrapped => {
                let wrapper = argument(Operand::Receiver);
                wrapper.and_then(|it| self.follow(it, Slot::Task)).into_iter().collect()
            }
            Operand::Result => result.and_then(|it| self.of_value(it)).into_iter().collect(),
            Operand::Class => {
                let class = self.program.methods[call.method].class;
                class_object(self.heap, class).map(AbstractValue::Object).into_iter().collect()
            }
            Operand::CallbackResult | Operand::Designated | Operand::CurrentThread => Vec::new(),
        }
    }

    /// The tasks behind something that is started or joined: the object itself, or what it runs.
    pub(super) fn tasks(&self, subject: AbstractValue) -> Vec<AbstractValue> {
        let mut tasks = vec![subject];
        while let Some(next) = tasks.last().and_then(|it| self.follow(*it, Slot::Task))
            && !tasks.contains(&next)
        {
            tasks.push(next);
        }
        tasks
    }
}

/// The variable that a step of a locking expression goes through; none for views, which are what they show.
pub(super) fn slot_of(step: &PathElement) -> Option<Slot> {
    match step {
        PathElement::Field(field) => Some(Slot::Field(*field)),
        PathElement::Element(_) => Some(Slot::Element),
        PathElement::Captured(_, number) => Some(Slot::Captured(*number)),
        PathElement::View | PathElement::None => None,
    }
}

/// Where a parameter of a call's target comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterSource {
    /// It is this argument.
    Argument(ValueId),
    /// It was captured, at this position, by the lambda that is this argument.
    Captured(ValueId, u16),
    /// It is what the collection that is this argument keeps.
    Kept(ValueId),
    /// It is the object that the call makes.
    Allocated,
    /// Nobody knows.
    Unknown,
}

/// Where each parameter of a target comes from.
pub(super) fn parameter_sources(
    program: &Program,
    call: &Call,
    target: &Target,
    count: usize,
) -> Vec<ParameterSource> {
    let argument = |at: usize| {
        call.arguments.get(at).map_or(ParameterSource::Unknown, |it| ParameterSource::Argument(*it))
    };
    let (lambda, holder) = match target.call_kind {
        CallKind::Direct => return (0..count).map(argument).collect(),
        CallKind::Lambda(lambda) => (lambda, 0),
        CallKind::Callback { lambda, argument, .. } => (lambda, usize::from(argument)),
        CallKind::CalledBack { argument: at, is_kept } => {
            let holder = call.arguments.get(usize::from(at)).copied();
            let receiver = holder.map_or(ParameterSource::Unknown, |it| match is_kept {
                true => ParameterSource::Kept(it),
                false => ParameterSource::Argument(it),
            });
            return (0..count)
                .map(|position| if position == 0 { receiver } else { ParameterSource::Unknown })
                .collect();
        }
    };
    let lambda = &program.lambdas[lambda];
    let makes = usize::from(lambda.kind == LambdaKind::Constructor);
    let fed = program.effects_of(call.method).iter().find_map(|effect| match effect {
        Effect::Feeds { from: Operand::Receiver, .. } => call.arguments.first(),
        Effect::Feeds { from: Operand::Argument(number), .. } => {
            let has_receiver = usize::from(!program.methods[call.method].is_static());
            call.arguments.get(usize::from(*number) + has_receiver)
        }
        _ => None,
    });
    let of_position = |position: usize| {
        let Some(position) = position.checked_sub(makes) else { return ParameterSource::Allocated };
        match position.checked_sub(lambda.captured) {
            None => call.arguments.get(holder).map_or(ParameterSource::Unknown, |it| {
                ParameterSource::Captured(*it, position as u16)
            }),
            Some(position) => match target.call_kind {
                CallKind::Callback { .. } => {
                    fed.map_or(ParameterSource::Unknown, |it| ParameterSource::Kept(*it))
                }
                CallKind::Direct | CallKind::Lambda(_) | CallKind::CalledBack { .. } => {
                    argument(position + 1)
                }
            },
        }
    };
    (0..count).map(of_position).collect()
}

/// The value that a target's result becomes; none where the library gets it.
pub(super) fn returned(target: &Target, result: Option<ValueId>) -> Option<ValueId> {
    result.filter(|_| !matches!(target.call_kind, CallKind::CalledBack { .. }))
}

/// For each alias set of a callee that callers can know, the alias set of the caller that it is at one call.
pub(super) fn correspondence(
    body_values: &BodyValues<'_>,
    sources: &[ParameterSource],
    result: Option<ValueId>,
    callee: &Shape,
) -> Box<[Option<NodeId>]> {
    let mut known: Vec<Option<NodeId>> = vec![None; callee.exposed];
    let caller = body_values.shape;
    let node_of = |value: &ValueId| caller.node_of(*value);
    let mut todo: Vec<(NodeId, NodeId)> = Vec::new();
    for (parameter, source) in callee.parameters.iter().zip(sources) {
        let Some(parameter) = parameter else { continue };
        let node = match source {
            ParameterSource::Argument(value) => node_of(value),
            ParameterSource::Captured(holder, number) => {
                node_of(holder).and_then(|it| caller[it].target(Slot::Captured(*number)))
            }
            ParameterSource::Kept(holder) => node_of(holder).and_then(|it| {
                caller[it].target(Slot::Contents).or_else(|| caller[it].target(Slot::Element))
            }),
            ParameterSource::Allocated => result.as_ref().and_then(node_of),
            ParameterSource::Unknown => None,
        };
        todo.extend(node.map(|node| (*parameter, node)));
    }
    if let (Some(returned), Some(result)) = (callee.result, result.as_ref().and_then(node_of)) {
        todo.push((returned, result));
    }
    todo.reverse();
    while let Some((theirs, ours)) = todo.pop() {
        let Some(entry @ None) = known.get_mut(theirs.index()) else { continue };
        *entry = Some(ours);
        // Both are sorted by variable: they are gone through side by side.
        let mut others = caller[ours].edges.iter().peekable();
        for edge in &callee[theirs].edges {
            while others.next_if(|other| other.slot < edge.slot).is_some() {}
            let ours = others.peek().filter(|other| other.slot == edge.slot);
            if let (Some(theirs), Some(ours)) = (edge.target, ours.and_then(|it| it.target)) {
                todo.push((theirs, ours));
            }
        }
    }
    known.into_boxed_slice()
}

/// What every alias set of a method is, given what those are that callers can know.
pub(super) fn complete(
    heap: &Heap,
    shape: &Shape,
    exposed: &[Option<ObjectId>],
) -> Vec<Option<ObjectId>> {
    let mut objects: Vec<Option<ObjectId>> = shape
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| heap.fixed(node).or_else(|| exposed.get(at).copied().flatten()))
        .collect();
    let mut todo: Vec<usize> =
        (0..objects.len()).rev().filter(|at| objects[*at].is_some()).collect();
    while let Some(at) = todo.pop() {
        let Some(object) = objects[at] else { continue };
        for edge in &shape.nodes[at].edges {
            if let Some(target) = edge.target
                && objects[target.index()].is_none()
                && let Some(led_to) = heap.target(object, edge.slot)
            {
                objects[target.index()] = Some(led_to);
                todo.push(target.index());
            }
        }
    }
    objects
}

/// The alias sets of a shape that may be an object of the heap shape graph in some context.
pub(super) fn bindable(shape: &Shape) -> Vec<bool> {
    let is_known = |at: usize, node: &Node| at < shape.exposed || !node.names.is_empty();
    let mut bindable: Vec<bool> =
        shape.nodes.iter().enumerate().map(|(at, node)| is_known(at, node)).collect();
    let mut todo: Vec<usize> = (0..bindable.len()).filter(|at| bindable[*at]).collect();
    while let Some(at) = todo.pop() {
        for target in shape.nodes[at].edges.iter().filter_map(|edge| edge.target) {
            if !std::mem::replace(&mut bindable[target.index()], true) {
                todo.push(target.index());
            }
        }
    }
    bindable
}
