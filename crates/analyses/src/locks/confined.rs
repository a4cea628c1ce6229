//! Objects that only the method that creates them can know.

use classes::bytecode::InvokeKind;
use program::ids::{Id, ValueId};
use program::ir::{Body, Operation, Terminator};

use super::expression::{ExpressionRoot, LockExpression};

/// Whether the expression starts from a new object that is never handed on: no other thread gets
/// there.
#[must_use]
pub fn is_confined(body: &Body, expression: &LockExpression) -> bool {
    let ExpressionRoot::Local(value) = expression.root else { return false };
    is_new(body, value) && !EscapingValues::of(body).contains(value)
}

/// Whether a value is an object or array that is made in this body.
#[must_use]
pub fn is_new(body: &Body, value: ValueId) -> bool {
    body.defining_instruction(value).is_some_and(|defined| {
        matches!(defined.operation, Operation::New(_) | Operation::NewArray { .. })
    })
}

/// The values that are stored, returned, captured, passed on as arguments, or known by another name
/// anywhere in a body; being the receiver of a call does not count.
pub struct EscapingValues {
    values: Vec<bool>,
}

impl EscapingValues {
    /// Looks through the body.
    #[must_use]
    pub fn of(body: &Body) -> EscapingValues {
        let mut values = vec![false; body.definitions.len()];
        let mut hand_on = |value: &ValueId| values[body.without_casts(*value).index()] = true;
        for block in body.blocks.iter() {
            for instruction in &block.instructions {
                match &instruction.operation {
                    Operation::PutField { value, .. }
                    | Operation::PutStatic { value, .. }
                    | Operation::ArrayStore { value, .. } => hand_on(value),
                    Operation::Call(call) => {
                        let receivers = usize::from(call.kind != InvokeKind::Static);
                        call.arguments.iter().skip(receivers).for_each(&mut hand_on);
                    }
                    Operation::DynamicCall(call) => call.arguments.iter().for_each(&mut hand_on),
                    _ => {}
                }
            }
            if let Terminator::Return(Some(value)) | Terminator::Throw(value) = &block.terminator {
                hand_on(value);
            }
            let inputs = block.phis.iter().flat_map(|phi| phi.inputs.iter().flatten());
            inputs.for_each(&mut hand_on);
        }
        EscapingValues { values }
    }

    /// Whether a value is among them.
    #[must_use]
    pub fn contains(&self, value: ValueId) -> bool {
        self.values[value.index()]
    }
}

/// Whether two values are one object, as long as no field changes: the same value, or read from the same field of the same
/// object.
#[must_use]
pub fn is_same_object(body: &Body, one: ValueId, other: ValueId) -> bool {
    let read = |value| body.defining_instruction(value).map(|it| &it.operation);
    one == other
        || match (read(one), read(other)) {
            (
                Some(Operation::GetField { object, field }),
                Some(Operation::GetField { object: of_other, field: its }),
            ) => field == its && body.without_casts(*object) == body.without_casts(*of_other),
            (Some(Operation::GetStatic(field)), Some(Operation::GetStatic(its))) => field == its,
            _ => false,
        }
}
