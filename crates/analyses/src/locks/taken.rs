//! The lock that is taken at a place, and what the methods that lead there call it.

use program::callgraph::Target;
use program::ids::{BlockId, MethodId};
use program::ir::{Body, Instruction, Operation};

use super::events::{LockEvent, implicit_lock, lock_events};
use super::expression::{Expressions, LockExpression};
use crate::Context;
use crate::heap::Place;

/// The lock that is taken at a place, as the method there names it.
#[must_use]
pub fn taken_at(context: &Context<'_>, place: Place) -> Option<LockExpression> {
    let program = context.program;
    let at_entry = || (place.offset == 0).then(|| implicit_lock(program, place.method)).flatten();
    let body = program.body(place.method)?;
    let Some((_, instruction)) = instruction_at(body, place.offset) else { return at_entry() };
    let no_getters = |_: MethodId| None;
    let expressions = Expressions::new(program, context.graph, body, &no_getters);
    for event in lock_events(program, &expressions, instruction) {
        match event {
            LockEvent::Acquire { lock, .. }
            | LockEvent::TryAcquire { lock, .. }
            | LockEvent::Wait { lock } => return lock,
            LockEvent::Release { .. } => {}
        }
    }
    if let Operation::Call(call) = &instruction.operation
        && let Some(lock) = implicit_lock(program, call.method)
    {
        let target =
            Target { method: call.method, call_kind: program::callgraph::CallKind::Direct };
        let terms = expressions.terms(call, place.offset, true);
        return Some(terms.translate(program, lock, &target)?.expression);
    }
    at_entry()
}

/// A lock of a called method as the caller names it; none if the caller has no name for it.
#[must_use]
pub fn in_caller(
    context: &Context<'_>,
    lock: LockExpression,
    callee: MethodId,
    call: Place,
) -> Option<LockExpression> {
    let program = context.program;
    let body = program.body(call.method)?;
    let (_, instruction) = instruction_at(body, call.offset)?;
    let Operation::Call(operation) = &instruction.operation else { return None };
    let targets = context.graph.targets(call.method, call.offset);
    let target = targets.iter().find(|target| target.method == callee)?;
    let no_getters = |_: MethodId| None;
    let expressions = Expressions::new(program, context.graph, body, &no_getters);
    let terms = expressions.terms(operation, call.offset, true);
    Some(terms.translate(program, lock, target)?.expression)
}

/// The instruction at an offset that deals with locks or calls, and its block.
#[must_use]
pub fn instruction_at(body: &Body, offset: u32) -> Option<(BlockId, &Instruction)> {
    let is_meant = |instruction: &&Instruction| {
        let deals = matches!(
            instruction.operation,
            Operation::Call(_) | Operation::DynamicCall(_) | Operation::MonitorEnter(_)
        );
        deals && instruction.offset == offset
    };
    body.blocks
        .iter_with_ids()
        .find_map(|(id, block)| Some((id, block.instructions.iter().find(is_meant)?)))
}
