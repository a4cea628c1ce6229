//! Rule `volatile-increment`: a volatile number is read, changed and written back, and no lock makes that one step.
//!
//! Misses: a value that takes its way through a collection or another field. May report a field that one thread alone writes, where the call graph shows several.

use std::collections::BTreeSet;

use findings::{Finding, Severity};
use program::callgraph::CallKind;
use program::ids::{BlockId, FieldId, MethodId, ValueId};
use program::ir::{Call, ControlDependence, Definition, Instruction, Operation};

use super::facts::MethodFacts;
use crate::locks::expression::LockExpression;

const RULE: &str = "volatile-increment";

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in method.instructions() {
        let Some((field, path, value)) = written(method, instruction) else { continue };
        if !method.facts.is_volatile(field)
            || method.is_unshared(&path)
            || method.is_locked(instruction.offset)
            || method.facts.has_one_thread(method.method)
        {
            continue;
        }
        let value = method.body.without_casts(value);
        let is_read = |value: ValueId| method.expressions.of(value) == Some(path);
        let found =
            method.calculated_from(value, &is_read).or_else(|| toggled(method, value, &is_read));
        let Some((read, is_count)) = found else { continue };
        let Some(read) = method.offset_of(read) else { continue };
        let severity = grade(method, is_count);
        findings.push(method.finding(
            RULE,
            severity,
            vec![("variable", method.describe(path))],
            vec![("read", read), ("written", instruction.offset)],
        ));
    }
}

/// The read that a flag is the opposite of: compilers turn `flag = !flag` into a branch that chooses between two
/// constants. Of two toggles one is lost like a count.
fn toggled(
    method: &MethodFacts<'_>,
    value: ValueId,
    is_read: &dyn Fn(ValueId) -> bool,
) -> Option<(ValueId, bool)> {
    let Definition::Phi(block) = method.body.definitions[value] else { return None };
    let is_constant = |value: ValueId| {
        matches!(
            method.body.defining_instruction(value).map(|it| &it.operation),
            Some(Operation::Constant(_))
        )
    };
    let chosen = method.operands(value);
    if chosen.len() != 2 || !chosen.iter().all(|value| is_constant(*value)) {
        return None;
    }
    let dependence = ControlDependence::of(method.body);
    let branches = method.body.blocks[block].predecessors.iter();
    let branches: BTreeSet<BlockId> = branches
        .flat_map(|from| dependence.deciders(*from).iter().copied().chain([*from]))
        .collect();
    let tested = branches.into_iter().flat_map(|branch| method.tested(branch));
    tested
        .map(|value| method.body.without_casts(value))
        .find(|it| is_read(*it))
        .map(|it| (it, true))
}

/// A private method that a thread of the class itself executes is often the only writer. A maximum or a set of bits loses
/// less than a count. Many programs keep their volatile counters to one writer that only their documentation names, so
/// that none of it is almost surely a defect.
fn grade(method: &MethodFacts<'_>, is_count: bool) -> Severity {
    let is_private = method.program().methods[method.method].is_private();
    let starts_thread = method.facts.roots.contains_key(&method.method);
    if is_private || starts_thread || !is_count { Severity::Low } else { Severity::Medium }
}

/// The field that an instruction writes, directly or by calling a setter.
fn written(
    method: &MethodFacts<'_>,
    instruction: &Instruction,
) -> Option<(FieldId, LockExpression, ValueId)> {
    match &instruction.operation {
        Operation::PutField { object, field, value } => {
            Some((*field, method.field_path(Some(*object), *field)?, *value))
        }
        Operation::PutStatic { field, value } => {
            Some((*field, method.field_path(None, *field)?, *value))
        }
        Operation::Call(call) => set_by(method, call, instruction.offset),
        _ => None,
    }
}

fn set_by(
    method: &MethodFacts<'_>,
    call: &Call,
    offset: u32,
) -> Option<(FieldId, LockExpression, ValueId)> {
    let [object, value] = call.arguments[..] else { return None };
    let [target] = method.facts.graph.targets(method.method, offset) else { return None };
    if target.call_kind != CallKind::Direct
        || method.program().methods[target.method].is_synchronized()
    {
        return None;
    }
    let field = field_set_by(method, target.method)?;
    Some((field, method.field_path(Some(object), field)?, value))
}

/// The field that a setter stores its argument in, if it does nothing else.
fn field_set_by(method: &MethodFacts<'_>, setter: MethodId) -> Option<FieldId> {
    let body = method.program().body(setter)?;
    if body.blocks.len() != 1 || method.program().methods[setter].is_static() {
        return None;
    }
    let mut instructions = body.instructions();
    let (Some(only), None) = (instructions.next(), instructions.next()) else { return None };
    match &only.operation {
        Operation::PutField { object, field, value }
            if body.parameters[..] == [*object, *value] =>
        {
            Some(*field)
        }
        _ => None,
    }
}
