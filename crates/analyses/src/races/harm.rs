//! What a race can do, as far as the accesses show it.
//!
//! Where nobody is seen to start two threads at a time, because one of them is a caller of a library or a worker of a pool
//! that the program does not have, a race is a defect for certain only if it does harm whatever the threads are: it loses
//! an update, breaks a collection, tests a reference that is gone when it is used, or passes by a lock that everybody else
//! holds. What remains is a value that one thread sets and another sees late at worst.
//!
//! Misses flags that a loop never sees change, and objects that are seen before what is in them: these are graded `medium`.

use classes::bytecode::{Against, Literal};
use program::ids::BlockId;
use program::ir::{Body, Instruction, Operation, Terminator};
use program::{FieldId, Program, ValueId};

use super::idiom::{at, constant, depends_on, reads, written};
use super::locking::is_mostly_locked;
use super::sharing::is_always_through;
use super::variable::{Conflicts, Event, Pair, RaceFacts, Variable};
use crate::execution::AccessKind;
use crate::heap::{Place, Slot};

/// Whether a conflict does more than that a value is seen late.
pub(super) fn does_harm(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicts: &Conflicts,
    pair: &Pair,
) -> bool {
    let field = match variable.slot {
        Slot::Contents => return true,
        Slot::Field(field) => field,
        Slot::Element | Slot::Task | Slot::Captured(_) => return false,
    };
    if is_mostly_locked(race_facts, variable, true) {
        return true;
    }
    let program = race_facts.execution.context.program;
    let events = |group: usize, kind: AccessKind| -> Vec<&Event> {
        let events = conflicts.groups[group].iter().map(|at| &variable.events[*at]);
        events.filter(|event| event.kind == kind).collect()
    };
    let written = |group: usize| events(group, AccessKind::Write);
    let (first, second) = (written(pair.first), written(pair.second));
    if !first.is_empty() && !second.is_empty() {
        return first.iter().chain(&second).any(|write| updates(program, field, write.place));
    }
    let tests = |group: usize| {
        events(group, AccessKind::Read).iter().any(|it| tests_and_uses(program, field, it.place))
    };
    let empties = |writes: &[&Event]| writes.iter().any(|it| empties(program, field, it.place));
    (empties(&first) && tests(pair.second)) || (empties(&second) && tests(pair.first))
}

/// Whether a write depends on what the field held: it is computed from that, or made because of it. Filling what is empty
/// is none, and neither is a state that is set after a look at it: whoever comes first sets it.
fn updates(program: &Program, field: FieldId, place: Place) -> bool {
    let Some((body, instruction)) = at(program, place) else { return false };
    let Some(value) = written(instruction, field) else { return false };
    depends_on(body, value, field)
        || (constant(body, value).is_none() && is_made_because_of(body, instruction, field))
}

/// Whether a write is behind a comparison of what the field held with something else than nothing.
fn is_made_because_of(body: &Body, write: &Instruction, field: FieldId) -> bool {
    let Some(to) = block_of(body, write.offset) else { return false };
    let compares = |terminator: &Terminator| match terminator {
        Terminator::Branch { left, right, against, .. } => match against {
            Against::Zero | Against::Null => {
                let is_read = |value: ValueId| {
                    body.defining_instruction(body.without_casts(value))
                        .is_some_and(|it| reads(it, field))
                };
                !is_read(*left) && depends_on(body, *left, field)
            }
            Against::Int | Against::Ref => {
                depends_on(body, *left, field)
                    || right.is_some_and(|right| depends_on(body, right, field))
            }
        },
        _ => false,
    };
    let mut blocks = body.blocks.iter_with_ids();
    blocks.any(|(id, block)| {
        id != to && compares(&block.terminator) && is_always_through(body, id, to)
    })
}

fn block_of(body: &Body, offset: u32) -> Option<BlockId> {
    body.blocks.iter_with_ids().find_map(|(id, block)| {
        block.instructions.iter().any(|it| it.offset == offset).then_some(id)
    })
}

/// Whether a write takes the reference away.
fn empties(program: &Program, field: FieldId, place: Place) -> bool {
    at(program, place).is_some_and(|(body, instruction)| {
        let value = written(instruction, field);
        value.is_some_and(|value| matches!(constant(body, value), Some(Literal::Null)))
    })
}

/// Whether a read finds that there is an object, and the method reads the field once more to use the object, or the other
/// way round.
fn tests_and_uses(program: &Program, field: FieldId, place: Place) -> bool {
    let Some((body, read)) = at(program, place) else { return false };
    let values: Vec<(BlockId, ValueId)> = body
        .blocks
        .iter_with_ids()
        .flat_map(|(id, block)| block.instructions.iter().map(move |it| (id, it)))
        .filter(|(_, it)| reads(it, field))
        .filter_map(|(id, it)| Some((id, it.result?)))
        .collect();
    let is_tested = |value: ValueId| {
        body.blocks.iter_with_ids().find_map(|(id, block)| match &block.terminator {
            Terminator::Branch { left, against: Against::Null, .. } if *left == value => Some(id),
            _ => None,
        })
    };
    let is_used = |value: ValueId| {
        body.instructions().any(|it| match &it.operation {
            Operation::Call(call) => call.arguments.first() == Some(&value),
            Operation::GetField { object, .. } | Operation::PutField { object, .. } => {
                *object == value
            }
            _ => false,
        })
    };
    let Some(this) = read.result else { return false };
    values.iter().filter_map(|(_, tested)| Some((*tested, is_tested(*tested)?))).any(
        |(tested, test)| {
            values.iter().any(|(block, used)| {
                *used != tested
                    && (*used == this || tested == this)
                    && is_used(*used)
                    && is_always_through(body, test, *block)
            })
        },
    )
}
