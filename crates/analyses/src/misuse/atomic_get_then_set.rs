//! Rule `atomic-get-then-set`: an atomic variable is read and then set to something that depends on what was read.
//!
//! Misses: a value that leaves the method in between. May report a variable that one thread alone sets, where the call
//! graph shows several. A set with release semantics or less (`lazySet`) says that there is one writer, and is not
//! reported.

use findings::{Finding, Severity};
use program::ids::{BlockId, ValueId};
use program::ir::{Call, ControlDependence, Instruction, Operation};
use program::models::{Effect, Operand, Ordering};

use super::facts::MethodFacts;
use crate::locks::expression::LockExpression;

const RULE: &str = "atomic-get-then-set";

/// An access by a call, or by a getter or setter that makes the call.
struct Access {
    block: BlockId,
    offset: u32,
    path: LockExpression,
    is_write: bool,
    /// What is read.
    result: Option<ValueId>,
    /// What is written.
    value: Option<ValueId>,
}

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    let accesses: Vec<Access> = method
        .calls()
        .filter_map(|(block, instruction, call)| access(method, block, instruction, call))
        .collect();
    if !accesses.iter().any(|it| it.is_write) || accesses.iter().all(|it| it.is_write) {
        return;
    }
    if method.facts.has_one_thread(method.method) || method.is_constructing() {
        return;
    }
    let dependence = ControlDependence::of(method.body);
    for write in accesses.iter().filter(|it| it.is_write) {
        if method.is_locked(write.offset) || method.is_unshared(&write.path) {
            continue;
        }
        let reads: Vec<&Access> =
            accesses.iter().filter(|it| !it.is_write && it.path == write.path).collect();
        let is_read = |value: ValueId| reads.iter().any(|it| it.result == Some(value));
        let Some(value) = write.value else { continue };
        let value = method.body.without_casts(value);
        let counted =
            method.calculated_from(value, &is_read).map(|(read, _)| (read, Severity::High));
        let made = || {
            let through = |value| is_made_from(method, value);
            let read = method.computed_from(value, &is_read, &through)?;
            (read != value).then_some((read, Severity::Medium))
        };
        let found = counted.or_else(made);
        let (read, severity) =
            match found.and_then(|(it, grade)| Some((method.offset_of(it)?, grade))) {
                Some(found) => found,
                None => match decided_by(method, &dependence, write, &is_read) {
                    Some(read) => (read, Severity::Medium),
                    None => continue,
                },
            };
        findings.push(method.finding(
            RULE,
            severity,
            vec![("variable", method.describe(write.path))],
            vec![("read", read), ("written", write.offset)],
        ));
    }
}

fn access(
    method: &MethodFacts<'_>,
    block: BlockId,
    instruction: &Instruction,
    call: &Call,
) -> Option<Access> {
    let (offset, result) = (instruction.offset, instruction.result);
    if let Some(is_write) = is_plain_access(method.effects(call)) {
        let path = method.expressions.of(method.receiver(call)?)?;
        let value = call.arguments.get(1).copied();
        return Some(Access { block, offset, path, is_write, result, value });
    }
    let made = method.delegated(call, offset)?;
    let is_write = is_plain_access(method.effects(made.call))?;
    let result = result.filter(|_| made.returns_result);
    let value = made.arguments.first().copied().flatten();
    Some(Access { block, offset, path: made.receiver, is_write, result, value })
}

/// Whether a call reads the receiver as an atomic variable (`false`), or sets it (`true`) for all threads to see.
fn is_plain_access(effects: &[Effect]) -> Option<bool> {
    effects.iter().find_map(|effect| match effect {
        Effect::AtomicRead { of: Operand::Receiver, ordering } => {
            (*ordering == Ordering::Volatile).then_some(false)
        }
        Effect::AtomicWrite { of: Operand::Receiver, ordering } => {
            (*ordering == Ordering::Volatile).then_some(true)
        }
        _ => None,
    })
}

/// Whether a value is an object or a result that is made from others.
fn is_made_from(method: &MethodFacts<'_>, value: ValueId) -> bool {
    matches!(
        method.body.defining_instruction(value).map(|it| &it.operation),
        Some(Operation::Call(_) | Operation::Cast { .. })
    )
}

/// The read that decides whether the write happens, if no other condition lies between.
fn decided_by(
    method: &MethodFacts<'_>,
    dependence: &ControlDependence,
    write: &Access,
    is_read: &dyn Fn(ValueId) -> bool,
) -> Option<u32> {
    method.deciders(dependence, write.block).iter().find_map(|branch| {
        let is_step = |value: ValueId| {
            method.is_arithmetic(value)
                || matches!(
                    method.body.defining_instruction(value).map(|it| &it.operation),
                    Some(Operation::Compare(..))
                )
        };
        let tested = method.tested(*branch);
        let read =
            tested.iter().find_map(|value| method.computed_from(*value, is_read, &is_step))?;
        method.offset_of(read)
    })
}
