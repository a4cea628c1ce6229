//! Which elements of arrays all threads come to that execute an access.

use program::ValueId;
use program::ir::{Body, Constant, Definition, Operation, Terminator};

/// Values that are followed backwards, at most.
const MOST_OPERANDS: usize = 32;

/// Whether an access is to an array in a field, and its index is counted from constants, so that it says nothing of the
/// thread: threads that share the work on an array have bounds of their own.
pub(super) fn are_the_same_for_all(body: &Body, offset: u32) -> bool {
    let operation = |value| body.defining_instruction(value).map(|it| &it.operation);
    let access = body.instructions().find(|instruction| instruction.offset == offset);
    let (array, index) = match access.map(|it| &it.operation) {
        Some(
            Operation::ArrayLoad { array, index, .. } | Operation::ArrayStore { array, index, .. },
        ) => (*array, *index),
        _ => return false,
    };
    let is_in_field = matches!(
        operation(body.without_casts(array)),
        Some(Operation::GetField { .. } | Operation::GetStatic(_))
    );
    let Some(counters) = counted(body, index).filter(|_| is_in_field) else { return false };
    // A bound, a stride or a choice that is the thread's own divides the work.
    body.blocks.iter().all(|block| match &block.terminator {
        Terminator::Branch { left, right, .. } => {
            let tested: Vec<ValueId> = std::iter::once(*left).chain(*right).collect();
            let sources: Vec<_> = tested.iter().map(|value| counted(body, *value)).collect();
            let is_about_index = tested.iter().any(|value| follows(body, *value, &counters));
            !is_about_index || sources.iter().all(Option::is_some)
        }
        _ => true,
    })
}

/// The values that a number is computed from, if these are constants, lengths and what loops count alone.
fn counted(body: &Body, value: ValueId) -> Option<Vec<ValueId>> {
    let (mut seen, mut todo) = (Vec::new(), vec![value]);
    while let Some(value) = todo.pop() {
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        if seen.len() > MOST_OPERANDS {
            return None;
        }
        if let Definition::Phi(block) = body.definitions[value] {
            let phis = body.blocks[block].phis.iter();
            let inputs = phis.filter(|phi| phi.result == value).flat_map(|phi| phi.inputs.iter());
            todo.extend(inputs.flatten().copied());
            continue;
        }
        match &body.defining_instruction(value)?.operation {
            Operation::Constant(Constant::Literal(_)) | Operation::ArrayLength(_) => {}
            operation @ (Operation::Binary { .. } | Operation::Unary(_)) => {
                operation.for_each_operand(|operand| todo.push(operand));
            }
            _ => return None,
        }
    }
    Some(seen)
}

/// Whether a value is computed from one that a loop counts among these.
fn follows(body: &Body, value: ValueId, counters: &[ValueId]) -> bool {
    let (mut seen, mut todo) = (Vec::new(), vec![value]);
    while let Some(value) = todo.pop() {
        if seen.contains(&value) || seen.len() > MOST_OPERANDS {
            continue;
        }
        seen.push(value);
        if matches!(body.definitions[value], Definition::Phi(_)) && counters.contains(&value) {
            return true;
        }
        if let Some(instruction) = body.defining_instruction(value) {
            instruction.operation.for_each_operand(|operand| todo.push(operand));
        }
    }
    false
}
