//! What single instructions and calls of library methods do to locks.

use classes::bytecode::{Against, Condition};
use program::dataflow::Edge;
use program::ids::{MethodId, ValueId};
use program::ir::{Block, Body, Instruction, Operation, Terminator};
use program::models::{Effect, Mode, Operand, Outcome};
use program::{Origin, Program};

use super::expression::{ExpressionRoot, Expressions, LockExpression, PathElement};

/// Something that happens to a lock. A lock without an expression cannot be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockEvent {
    /// It is held from now on.
    Acquire {
        /// The lock.
        lock: Option<LockExpression>,
        /// The object whose monitor it is, when it is one.
        object: Option<ValueId>,
    },
    /// It is held from now on if this value turns out to be true, or not zero.
    TryAcquire {
        /// The lock.
        lock: Option<LockExpression>,
        /// The value that is true if the attempt succeeded.
        result: ValueId,
    },
    /// It is given back.
    Release {
        /// The lock.
        lock: Option<LockExpression>,
        /// The object whose monitor it is, when it is one.
        object: Option<ValueId>,
    },
    /// It is given back for a while, and held again afterwards.
    Wait {
        /// The lock.
        lock: Option<LockExpression>,
    },
}

/// What an instruction does to locks by itself; calls of methods with bodies are not looked into.
#[must_use]
pub fn lock_events(
    program: &Program,
    expressions: &Expressions<'_>,
    instruction: &Instruction,
) -> Vec<LockEvent> {
    match &instruction.operation {
        Operation::MonitorEnter(object) => {
            let lock = expressions.of(*object);
            vec![LockEvent::Acquire { lock, object: Some(*object) }]
        }
        Operation::MonitorExit(object) => {
            let lock = expressions.of(*object);
            vec![LockEvent::Release { lock, object: Some(*object) }]
        }
        Operation::Call(call) => {
            let effects = program.effects_of(call.method);
            if !touches_lock(effects) {
                return Vec::new();
            }
            let has_receiver = !program.methods[call.method].is_static();
            let lock_of = |operand: &Operand| {
                let position = operand_position(operand, has_receiver)?;
                expressions.of(*call.arguments.get(position)?)
            };
            let event = |effect: &Effect| match effect {
                Effect::Acquire { lock, mode, outcome } if excludes(*mode) => {
                    let lock = lock_of(lock);
                    match (outcome, instruction.result) {
                        (Outcome::Always, _) => Some(LockEvent::Acquire { lock, object: None }),
                        (
                            Outcome::IfTrue | Outcome::IfNonZero | Outcome::IfNonNull,
                            Some(result),
                        ) => Some(LockEvent::TryAcquire { lock, result }),
                        _ => None,
                    }
                }
                // It is held all the time: as before, or as it is wanted from now on.
                Effect::Release { .. } if is_conversion(effects) => None,
                Effect::Release { lock, mode, .. } if excludes(*mode) => {
                    Some(LockEvent::Release { lock: lock_of(lock), object: None })
                }
                Effect::Wait { on, .. } => Some(LockEvent::Wait { lock: lock_of(on) }),
                _ => None,
            };
            effects.iter().filter_map(event).collect()
        }
        _ => Vec::new(),
    }
}

/// The position among the arguments of a call, the receiver being 0.
pub(crate) fn operand_position(operand: &Operand, has_receiver: bool) -> Option<usize> {
    match operand {
        Operand::Receiver => Some(0),
        Operand::Argument(number) => Some(usize::from(*number) + usize::from(has_receiver)),
        _ => None,
    }
}

/// Whether holding a lock in this mode keeps anybody out.
fn excludes(mode: Mode) -> bool {
    match mode {
        Mode::Exclusive | Mode::Shared | Mode::Any => true,
        Mode::Optimistic | Mode::Permit => false,
    }
}

/// Whether a modelled call exchanges one mode of holding a lock for another, if it can, and changes nothing if it cannot
/// (`StampedLock.tryConvertToWriteLock`).
#[must_use]
pub fn is_conversion(effects: &[Effect]) -> bool {
    let is_tried = |outcome: &Outcome| *outcome != Outcome::Always;
    let gives =
        |effect: &Effect| matches!(effect, Effect::Release { outcome, .. } if is_tried(outcome));
    let takes = |effect: &Effect| matches!(effect, Effect::Acquire { mode, outcome, .. } if excludes(*mode) && is_tried(outcome));
    effects.iter().any(gives) && effects.iter().any(takes)
}

/// Whether a modelled call takes, gives back or waits for a lock of its caller.
#[must_use]
pub fn touches_lock(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| {
        matches!(effect, Effect::Acquire { .. } | Effect::Release { .. } | Effect::Wait { .. })
    })
}

/// The value that a block's last comparison tests, and whether leaving by this edge means that it
/// is true, or not zero.
#[must_use]
pub fn succeeded(body: &Body, block: &Block, edge: Edge) -> Option<(ValueId, bool)> {
    let Terminator::Branch { condition, against: Against::Zero, left, .. } = &block.terminator
    else {
        return None;
    };
    // The stamp of a `StampedLock` is a long: it is compared with zero first.
    let tested = match body.defining_instruction(*left).map(|it| &it.operation) {
        Some(Operation::Compare(value, _)) => *value,
        _ => *left,
    };
    let is_true = match condition {
        Condition::Ne | Condition::Gt => edge == Edge::Taken,
        Condition::Eq | Condition::Le => edge == Edge::NotTaken,
        Condition::Lt | Condition::Ge => false,
    };
    Some((tested, is_true))
}

/// The lock that calling a method takes before its body runs: of a synchronized method, or of a
/// library method without a body that the models know to be one.
#[must_use]
pub fn implicit_lock(program: &Program, method: MethodId) -> Option<LockExpression> {
    let declared = &program.methods[method];
    if declared.is_synchronized() {
        return Some(LockExpression::new(if declared.is_static() {
            ExpressionRoot::Class(declared.class)
        } else {
            ExpressionRoot::Parameter(0)
        }));
    }
    if program.body(method).is_some()
        || (program.classes[declared.class].origin == Origin::Application
            && !program.is_described_by_user(method))
    {
        return None;
    }
    program.effects_of(method).iter().find_map(|effect| {
        let Effect::Synchronized { lock } = effect else { return None };
        match lock {
            Operand::Receiver => Some(LockExpression::new(ExpressionRoot::Parameter(0))),
            Operand::Argument(number) => {
                let shift = u16::from(!declared.is_static());
                Some(LockExpression::new(ExpressionRoot::Parameter(u16::from(*number) + shift)))
            }
            Operand::Class => Some(LockExpression::new(ExpressionRoot::Class(declared.class))),
            Operand::Field(name) => {
                let field = program.hierarchy.superclasses(declared.class).find_map(|class| {
                    let fields = &program.classes[class].fields;
                    fields.iter().copied().find(|field| *program.fields[*field].name == **name)
                })?;
                LockExpression::new(ExpressionRoot::Parameter(0)).then(PathElement::Field(field))
            }
            _ => None,
        }
    })
}
