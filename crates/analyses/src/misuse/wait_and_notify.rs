//! Rules `wait-outside-loop` and `notify-without-change`.
//!
//! `wait-outside-loop`: a thread waits for a notification, and no loop around the wait asks again for what it waits for:
//! not in the method, and not around the calls of a method that only waits. Misses loops that ask for something else.
//!
//! `notify-without-change`: a notification where neither the method nor any caller has changed anything before. Misses
//! methods that change something that has nothing to do with the waiting.

use findings::{Finding, Severity};
use program::ids::MethodId;
use program::ir::{Operation, Terminator};
use program::models::{Effect, WaitKind};
use program::{BlockId, Program};
use rustc_hash::FxHashSet;

use super::facts::MethodFacts;

const WAIT: &str = "wait-outside-loop";
const NOTIFY: &str = "notify-without-change";

/// Callers are looked at this far up.
const CALLER_LEVELS: usize = 3;

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    for (block, instruction, call) in method.calls() {
        for effect in method.effects(call) {
            match effect {
                Effect::Wait { on, kind: WaitKind::Monitor | WaitKind::Condition, timed } => {
                    let is_looped =
                        method.is_in_loop(block) || is_called_in_loops(method, CALLER_LEVELS);
                    // A class that implements a condition or hands a wait on decides nothing itself.
                    if is_looped || passes_on(method, block) {
                        continue;
                    }
                    let Some(object) = method.operand(call, on) else { continue };
                    let severity = match timed {
                        true => Severity::Low,
                        false => Severity::High,
                    };
                    findings.push(method.finding(
                        WAIT,
                        severity,
                        vec![("object", method.name_of(object))],
                        vec![("waits", instruction.offset)],
                    ));
                }
                Effect::Notify { on, .. } => {
                    if changes_anything(method.program(), method.method)
                        || passes_on(method, block)
                        || callers_change(method, CALLER_LEVELS)
                    {
                        continue;
                    }
                    let Some(object) = method.operand(call, on) else { continue };
                    findings.push(method.finding(
                        NOTIFY,
                        Severity::Medium,
                        vec![("object", method.name_of(object))],
                        vec![("notifies", instruction.offset)],
                    ));
                }
                _ => {}
            }
        }
    }
}

/// Whether the method does nothing but the one call that it makes in this block.
fn passes_on(method: &MethodFacts<'_>, block: BlockId) -> bool {
    let block = &method.body.blocks[block];
    let calls = method
        .calls()
        .filter(|(_, _, call)| &*method.program().methods[call.method].name != "<init>");
    let is_alone = calls.count() == 1 && method.body.blocks.len() == 1;
    let locks =
        method.instructions().any(|(_, it)| matches!(it.operation, Operation::MonitorEnter(_)))
            || method.program().methods[method.method].is_synchronized();
    is_alone && !locks && matches!(block.terminator, Terminator::Return(_))
}

/// Whether every call of this method that is seen lies in a loop, there or further up.
fn is_called_in_loops(method: &MethodFacts<'_>, levels: usize) -> bool {
    let callers = method.facts.graph.callers(method.method);
    if levels == 0 || callers.is_empty() {
        return false;
    }
    callers.iter().all(|caller| {
        *caller != method.method
            && method
                .facts
                .with_method(*caller, |caller| {
                    let mut calls = blocks_calling(caller, method.method).into_iter().peekable();
                    calls.peek().is_some()
                        && calls.all(|block| {
                            caller.is_in_loop(block) || is_called_in_loops(caller, levels - 1)
                        })
                })
                .unwrap_or(false)
    })
}

fn blocks_calling(caller: &MethodFacts<'_>, callee: MethodId) -> Vec<BlockId> {
    let calls = |offset: u32| {
        let targets = caller.facts.graph.targets(caller.method, offset);
        targets.iter().any(|target| target.method == callee)
    };
    let instructions = caller.instructions();
    let found = instructions.filter(|(_, it)| calls(it.offset)).map(|(block, _)| block);
    found.collect()
}

/// Whether a caller changes something, or makes another call that may do so.
fn callers_change(method: &MethodFacts<'_>, levels: usize) -> bool {
    let graph = method.facts.graph;
    let mut seen = FxHashSet::from_iter([method.method]);
    let mut level = vec![method.method];
    for _ in 0..levels {
        let callers: Vec<MethodId> =
            level.iter().flat_map(|it| graph.callers(*it)).copied().collect();
        level = callers.into_iter().filter(|it| seen.insert(*it)).collect();
        if level.iter().any(|caller| changes_or_calls(method.program(), *caller, &seen)) {
            return true;
        }
    }
    false
}

fn changes_or_calls(program: &Program, method: MethodId, callees: &FxHashSet<MethodId>) -> bool {
    let Some(body) = program.body(method) else { return true };
    body.instructions().any(|instruction| match &instruction.operation {
        Operation::Call(call) => !callees.contains(&call.method) && !is_idle(program, call.method),
        operation => is_change(operation),
    })
}

fn changes_anything(program: &Program, method: MethodId) -> bool {
    changes_or_calls(program, method, &FxHashSet::default())
}

fn is_change(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::PutField { .. }
            | Operation::PutStatic { .. }
            | Operation::ArrayStore { .. }
            | Operation::DynamicCall(_)
    )
}

/// Whether a library method changes nothing that a waiting thread could wait for.
fn is_idle(program: &Program, method: MethodId) -> bool {
    let row = program.row_of(method);
    row.is_some_and(|row| {
        row.effects.iter().all(|effect| {
            matches!(
                effect,
                Effect::Notify { .. }
                    | Effect::Acquire { .. }
                    | Effect::Release { .. }
                    | Effect::LockView { .. }
                    | Effect::ConditionOf { .. }
                    | Effect::Blocks { .. }
            )
        })
    })
}
