//! One abstract lock that stands for many: are two of its instances taken in both orders? (The dissertation takes every
//! second acquisition of an abstract lock for a re-entrant one, and names this as a source of misses in 6.4.1.)
//!
//! One piece of code is enough: when two accounts are locked in the order in which they are given, two threads that
//! are given them in opposite orders block each other. What keeps this from happening is an order that everybody
//! follows. Two such orders are recognised: a comparison of the two decides which one is locked first; and the second
//! one is reached through the first (a child from its parent, the next in a list), in one direction only.

use std::collections::BTreeSet;

use program::Program;
use program::ids::{BlockId, FieldId, MethodId, ValueId};
use program::ir::{Body, ControlDependence, Definition, Operation, Terminator};
use rustc_hash::FxHashSet;

use classes::bytecode::Condition;

use super::edge_paths::{Caller, Callers, EdgePath};
use crate::Context;
use crate::execution::{ContextId, ExecutionFacts};
use crate::heap::Place;
use crate::locks::expression::{ExpressionRoot, Expressions, LockExpression, PathElement};
use crate::locks::{in_caller, instruction_at, taken_at};

/// How far callers are looked at for the comparison that decides about an order.
const MOST_CALLERS: usize = 4;

/// Values that a comparison is computed from are followed back through so many others.
const MOST_OPERANDS: usize = 64;

/// What is known of the order in which two instances are locked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum InstanceOrder {
    /// Two objects that have nothing to do with each other, in the order in which they happen to be given.
    AsGiven,
    /// The second is reached from the first through these fields.
    Through(Vec<FieldId>),
    /// Both are taken by the same code: the elements of a collection, one after the other.
    InTurn,
    /// A comparison of the two decides.
    Compared,
    /// The code does not show it.
    Unknown,
}

/// The order in which a step from an abstract lock to itself takes the two instances.
pub(super) fn instance_order(
    execution: &ExecutionFacts<'_>,
    callers: &Callers,
    edge_path: &EdgePath<'_>,
) -> InstanceOrder {
    if edge_path.held_at == edge_path.way.wanted_at {
        return InstanceOrder::InTurn;
    }
    let context = execution.context;
    let (Some(mut wanted), Some(held)) =
        (taken_at(context, edge_path.way.wanted_at), taken_at(context, edge_path.held_at))
    else {
        return InstanceOrder::Unknown;
    };
    // From where the second is wanted up to the method that took the first; both then have names of one method.
    for pair in edge_path.path.windows(2).rev() {
        let [call, below] = pair else { continue };
        let Some(translated) = in_caller(context, wanted, below.method, *call) else {
            return InstanceOrder::Unknown;
        };
        wanted = translated;
    }
    let Some(place) = edge_path.path.first() else { return InstanceOrder::Unknown };
    if let Some(fields) = fields_between(&held, &wanted) {
        return fields;
    }
    let Some(body) = context.program.body(edge_path.held_at.method) else {
        return InstanceOrder::Unknown;
    };
    if is_compared(context, body, edge_path.held_at, *place, [&held, &wanted]) {
        return InstanceOrder::Compared;
    }
    let search = CallerSearch { execution, callers };
    if search.all_compare(edge_path.holder, &held, &wanted, MOST_CALLERS) {
        return InstanceOrder::Compared;
    }
    if is_of_own_inner_object(context, body, &held, &wanted) {
        return InstanceOrder::Unknown;
    }
    let is_local = |lock: &LockExpression| matches!(lock.root, ExpressionRoot::Local(_));
    if is_local(&held) && is_local(&wanted) && held.root == wanted.root {
        return InstanceOrder::Unknown;
    }
    InstanceOrder::AsGiven
}

/// Calls of an inner object that give an inner object, one after the other, at most.
const MOST_STEPS_OF_BUILDER: usize = 8;

/// Whether the second is the object around an inner object that methods of the first have given: it is the first again, most
/// likely.
fn is_of_own_inner_object(
    context: &Context<'_>,
    body: &Body,
    held: &LockExpression,
    wanted: &LockExpression,
) -> bool {
    let program = context.program;
    let (ExpressionRoot::Local(mut inner), [PathElement::Field(outer)]) =
        (wanted.root, wanted.steps())
    else {
        return false;
    };
    let outer = &program.fields[*outer];
    if !outer.name.starts_with("this$") {
        return false;
    }
    let inner_class = format!(")L{};", program.classes[outer.class].name);
    let no_getters = |_: MethodId| None;
    let expressions = Expressions::new(program, context.graph, body, &no_getters);
    for _ in 0..MOST_STEPS_OF_BUILDER {
        let made = body.defining_instruction(body.without_casts(inner)).map(|it| &it.operation);
        let Some(Operation::Call(call)) = made else { return false };
        let called = &program.methods[call.method];
        let Some(receiver) = call.arguments.first().filter(|_| !called.is_static()) else {
            return false;
        };
        if !called.descriptor.ends_with(&inner_class) {
            return false;
        }
        if expressions.of(*receiver) == Some(*held) {
            return true;
        }
        inner = *receiver;
    }
    false
}

/// The fields that lead from one lock to the other; none if it is not reached from there.
fn fields_between(held: &LockExpression, wanted: &LockExpression) -> Option<InstanceOrder> {
    if held == wanted {
        return Some(InstanceOrder::Unknown);
    }
    if held.root != wanted.root {
        return None;
    }
    let fields = |steps: &[PathElement]| {
        let field = |step: &PathElement| match step {
            PathElement::Field(field) => Some(*field),
            PathElement::None
            | PathElement::Element(_)
            | PathElement::View
            | PathElement::Captured(..) => None,
        };
        steps.iter().filter_map(field).collect::<Vec<FieldId>>()
    };
    let down = wanted.steps().strip_prefix(held.steps());
    // Taking the child first and then the parent is the same as a field that leads back.
    let up = held.steps().strip_prefix(wanted.steps());
    match (down, up) {
        (Some(steps), _) => Some(InstanceOrder::Through(fields(steps))),
        (None, Some(_)) => Some(InstanceOrder::AsGiven),
        (None, None) => None,
    }
}

struct CallerSearch<'a> {
    execution: &'a ExecutionFacts<'a>,
    callers: &'a Callers,
}

impl CallerSearch<'_> {
    /// Whether two parameters come in an order that every caller decides by comparing them.
    fn all_compare(
        &self,
        context: ContextId,
        held: &LockExpression,
        wanted: &LockExpression,
        depth: usize,
    ) -> bool {
        let is_parameter =
            |lock: &LockExpression| matches!(lock.root, ExpressionRoot::Parameter(_));
        if depth == 0 || !is_parameter(held) || !is_parameter(wanted) {
            return false;
        }
        let callers = self.callers.of(context);
        let callee = self.execution.methods[context];
        let program = self.execution.context.program;
        let compares = |caller: &Caller| {
            let call = caller.place;
            let translate = |lock| in_caller(self.execution.context, lock, callee, call);
            let (Some(first), Some(second)) = (translate(*held), translate(*wanted)) else {
                return false;
            };
            let Some(body) = program.body(call.method) else { return false };
            is_compared(self.execution.context, body, call, call, [&first, &second])
                || self.all_compare(caller.context, &first, &second, depth - 1)
        };
        !callers.is_empty() && callers.iter().all(compares)
    }
}

/// Whether a comparison of two objects decides which of them is locked first: it decides whether this code runs, or
/// what the two variables are.
fn is_compared(
    context: &Context<'_>,
    body: &Body,
    held_at: Place,
    wanted_at: Place,
    locks: [&LockExpression; 2],
) -> bool {
    let no_getters = |_: MethodId| None;
    let expressions = Expressions::new(context.program, context.graph, body, &no_getters);
    let mut objects: BTreeSet<LockExpression> = BTreeSet::new();
    let mut deciding: Vec<BlockId> = Vec::new();
    for lock in locks {
        match lock.root {
            ExpressionRoot::Local(value) => {
                let mut seen = FxHashSet::default();
                origins(&expressions, value, &mut seen, &mut objects, &mut deciding);
            }
            ExpressionRoot::Parameter(_) => {
                objects.insert(*lock);
            }
            ExpressionRoot::Static(_) | ExpressionRoot::Class(_) => return false,
        }
    }
    let places = [held_at, wanted_at].into_iter();
    let blocks = places.filter_map(|place| instruction_at(body, place.offset));
    deciding.extend(blocks.map(|(block, _)| block));
    let dependence = ControlDependence::of(body);
    let mut branches: Vec<BlockId> =
        deciding.iter().flat_map(|block| dependence.all_deciders(*block)).collect();
    branches.sort_unstable();
    branches.dedup();
    branches.into_iter().any(|block| orders_two_of(&expressions, block, &objects))
}

/// The objects that a variable may be, and the blocks that decide which one.
fn origins(
    expressions: &Expressions<'_>,
    value: ValueId,
    seen: &mut FxHashSet<ValueId>,
    objects: &mut BTreeSet<LockExpression>,
    deciding: &mut Vec<BlockId>,
) {
    let body = expressions.body;
    let value = body.without_casts(value);
    if seen.len() > MOST_OPERANDS || !seen.insert(value) {
        return;
    }
    if let Definition::Phi(block) = body.definitions[value] {
        deciding.extend(&body.blocks[block].predecessors);
        let phis = body.blocks[block].phis.iter().filter(|phi| phi.result == value);
        for input in phis.flat_map(|phi| phi.inputs.iter().flatten()) {
            origins(expressions, *input, seen, objects, deciding);
        }
    } else {
        objects.extend(expressions.of(value));
    }
}

/// Whether a branch asks which of two of these objects comes first.
fn orders_two_of(
    expressions: &Expressions<'_>,
    block: BlockId,
    objects: &BTreeSet<LockExpression>,
) -> bool {
    let body = expressions.body;
    let Terminator::Branch { condition, left, right, .. } = &body.blocks[block].terminator else {
        return false;
    };
    // What is compared for equality decides whether they are two, not which is first.
    match condition {
        Condition::Lt | Condition::Ge | Condition::Gt | Condition::Le => {}
        Condition::Eq | Condition::Ne => return false,
    }
    // A lock that is a field of an object is distinguished by the object.
    let leads_to = |name: &LockExpression, object: &LockExpression| {
        name.root == object.root && object.steps().starts_with(name.steps())
    };
    let mut found: BTreeSet<LockExpression> = BTreeSet::new();
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut todo: Vec<ValueId> = Vec::from_iter(right.iter().copied().chain([*left]));
    while let Some(value) = todo.pop() {
        let value = body.without_casts(value);
        if seen.len() > MOST_OPERANDS || !seen.insert(value) {
            continue;
        }
        if let Some(name) = expressions.of(value) {
            let led: Vec<&LockExpression> =
                objects.iter().filter(|object| leads_to(&name, object)).collect();
            if led.len() < objects.len() {
                found.extend(led);
            }
        }
        if let Some(instruction) = body.defining_instruction(value) {
            instruction.operation.for_each_operand(|operand| todo.push(operand));
        } else if let Definition::Phi(block) = body.definitions[value] {
            let phis = body.blocks[block].phis.iter().filter(|phi| phi.result == value);
            todo.extend(phis.flat_map(|phi| phi.inputs.iter().flatten()));
        }
    }
    found.len() >= 2
}

/// Pairs of fields that lead to each other: somewhere an object is stored in one field of another that is stored in the
/// other field of it.
pub(super) struct MutualReferences {
    pairs: FxHashSet<(FieldId, FieldId)>,
}

impl MutualReferences {
    /// Those of a program's own code.
    pub(super) fn of(program: &Program) -> MutualReferences {
        let methods = program.methods_with_bodies();
        let own = methods.filter(|method| program.is_application(*method));
        MutualReferences {
            pairs: own.flat_map(|method| stored_in_each_other(program, method)).collect(),
        }
    }

    /// Whether what one way of fields leads to leads back by the other.
    pub(super) fn refers_back(&self, there: &[FieldId], back: &[FieldId]) -> bool {
        match (there.first(), back.first()) {
            (Some(there), Some(back)) => there != back && self.pairs.contains(&(*there, *back)),
            (None, _) | (_, None) => false,
        }
    }
}

/// The fields in which a method stores two objects in each other: directly, in collections that fields hold, or by
/// calling a method that stores a parameter in a field of its receiver.
fn stored_in_each_other(program: &Program, method: MethodId) -> Vec<(FieldId, FieldId)> {
    let Some(body) = program.body(method) else { return Vec::new() };
    let mut stored: BTreeSet<(ValueId, FieldId, ValueId)> = BTreeSet::new();
    for instruction in body.instructions() {
        match &instruction.operation {
            Operation::PutField { object, field, value } => {
                stored.insert((body.without_casts(*object), *field, body.without_casts(*value)));
            }
            Operation::Call(call) => {
                let Some((receiver, arguments)) = call.arguments.split_first() else { continue };
                let receiver = body.without_casts(*receiver);
                if let Some(holder) = body.defining_instruction(receiver)
                    && let Operation::GetField { object, field } = holder.operation
                    && program.body(call.method).is_none()
                {
                    let object = body.without_casts(object);
                    let all = arguments.iter().map(|value| body.without_casts(*value));
                    stored.extend(all.map(|value| (object, field, value)));
                }
                for (field, parameter) in stored_parameters(program, call.method) {
                    if let Some(value) = call.arguments.get(usize::from(parameter)) {
                        stored.insert((receiver, field, body.without_casts(*value)));
                    }
                }
            }
            _ => {}
        }
    }
    let pairs = stored.iter().flat_map(|(object, there, value)| {
        let of_value = stored.iter().filter(move |(holder, ..)| holder == value);
        of_value.filter(move |(.., held)| held == object).map(move |(_, back, _)| (*there, *back))
    });
    pairs.collect()
}

/// The parameters that a method stores in fields of its receiver.
fn stored_parameters(program: &Program, method: MethodId) -> Vec<(FieldId, u16)> {
    let Some(body) = program.body(method) else { return Vec::new() };
    let parameter = |value: ValueId| match body.definitions[body.without_casts(value)] {
        Definition::Parameter(number) => Some(number),
        Definition::Phi(_)
        | Definition::Caught(_)
        | Definition::Instruction(..)
        | Definition::Removed => None,
    };
    let stores = body.instructions().filter_map(|instruction| match &instruction.operation {
        Operation::PutField { object, field, value } if parameter(*object) == Some(0) => {
            Some((*field, parameter(*value)?))
        }
        _ => None,
    });
    stores.collect()
}
