//! Racy code that is often there on purpose, or that does less harm than other races: recognised by what the methods do
//! around the accesses.

use classes::bytecode::{Against, Literal};
use findings::{GradeRule, grade};
use program::ir::{Body, Constant, Instruction, Operation, Terminator};
use program::models::Sharing;
use program::{FieldId, Program, ValueId};

use super::variable::Event;
use crate::execution::AccessKind;
use crate::heap::{Place, Slot};

/// The idioms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Idiom {
    /// A cache that any thread may fill, always with the same number or immutable object: `String.hashCode`.
    RacyCache,
    /// A `boolean` that only ever goes one way. It should be volatile, and that is all.
    OneWayFlag,
    /// A number that is only ever counted up or down. Counts are lost, and nothing is decided by them.
    Counter,
}

impl Idiom {
    /// How much a conflict in such code matters at most.
    pub(super) fn grade(self) -> GradeRule {
        match self {
            Idiom::RacyCache => grade::RACY_CACHE,
            Idiom::OneWayFlag => grade::ONE_WAY_FLAG,
            Idiom::Counter => grade::COUNTER,
        }
    }

    /// The idiom that all conflicting accesses to a field belong to, if they belong to one.
    pub(super) fn of(program: &Program, slot: Slot, conflicting: &[&Event]) -> Option<Idiom> {
        let Slot::Field(field) = slot else { return None };
        let writes = || {
            conflicting.iter().filter(|event| event.kind == AccessKind::Write).map(|it| it.place)
        };
        if is_one_way_flag(program, field, writes()) {
            return Some(Idiom::OneWayFlag);
        }
        if is_value(program, field) && writes().all(|write| fills_cache(program, field, write)) {
            return Some(Idiom::RacyCache);
        }
        let counts = |event: &&Event| match event.kind {
            AccessKind::Read => is_only_counted(program, field, event.place),
            AccessKind::Write => counted_from(program, field, event.place).is_some(),
        };
        conflicting.iter().all(counts).then_some(Idiom::Counter)
    }
}

/// The instruction at a place, with its body.
pub(super) fn at(program: &Program, place: Place) -> Option<(&Body, &Instruction)> {
    let body = program.body(place.method)?;
    let instruction = body.instructions().find(|it| it.offset == place.offset)?;
    Some((body, instruction))
}

pub(super) fn written(instruction: &Instruction, field: FieldId) -> Option<ValueId> {
    match &instruction.operation {
        Operation::PutField { field: to, value, .. }
        | Operation::PutStatic { field: to, value }
            if *to == field =>
        {
            Some(*value)
        }
        _ => None,
    }
}

pub(super) fn reads(instruction: &Instruction, field: FieldId) -> bool {
    match &instruction.operation {
        Operation::GetField { field: from, .. } | Operation::GetStatic(from) => *from == field,
        _ => false,
    }
}

pub(super) fn constant(body: &Body, value: ValueId) -> Option<&Literal> {
    match &body.defining_instruction(value)?.operation {
        Operation::Constant(Constant::Literal(literal)) => Some(literal),
        _ => None,
    }
}

fn is_one_way_flag(
    program: &Program,
    field: FieldId,
    mut writes: impl Iterator<Item = Place>,
) -> bool {
    if &*program.fields[field].descriptor != "Z" {
        return false;
    }
    let written_at = |place: Place| {
        let (body, instruction) = at(program, place)?;
        constant(body, written(instruction, field)?).cloned()
    };
    let Some(first) = writes.next().and_then(written_at) else { return false };
    writes.all(|place| written_at(place).as_ref() == Some(&first))
}

/// Whether a field holds something that is the same object or number wherever it is seen at all: a number that is
/// written at once, or a reference to what never changes.
fn is_value(program: &Program, field: FieldId) -> bool {
    let descriptor = &*program.fields[field].descriptor;
    match descriptor.as_bytes().first() {
        Some(b'I' | b'S' | b'B' | b'C' | b'F' | b'Z') => true,
        Some(b'L') => {
            let class = &descriptor[1..descriptor.len() - 1];
            program.models().sharing(class) == Some(Sharing::Immutable)
        }
        _ => false,
    }
}

/// Whether a write is in a method that looks whether the field is still empty, and writes what does not depend on the
/// field.
fn fills_cache(program: &Program, field: FieldId, place: Place) -> bool {
    let Some((body, instruction)) = at(program, place) else { return false };
    let Some(value) = written(instruction, field) else { return false };
    let is_test = |terminator: &Terminator| match terminator {
        Terminator::Branch { left, against: Against::Zero | Against::Null, .. } => {
            body.defining_instruction(*left).is_some_and(|instruction| reads(instruction, field))
        }
        _ => false,
    };
    // Emptying it again makes it more than a cache.
    constant(body, value).is_none()
        && body.blocks.iter().any(|block| is_test(&block.terminator))
        && !depends_on(body, value, field)
}

/// Values that are followed backwards, at most: what is computed from more is taken to depend on everything.
const MOST_OPERANDS: usize = 64;

/// Whether a value is computed from what a field holds, on the straight way: a loop that begins with the empty value
/// that was read, as in computing a hash code, is no dependence that matters.
pub(super) fn depends_on(body: &Body, value: ValueId, field: FieldId) -> bool {
    let (mut seen, mut open) = (Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        if seen.len() > MOST_OPERANDS {
            return true;
        }
        let Some(instruction) = body.defining_instruction(value) else { continue };
        if reads(instruction, field) {
            return true;
        }
        instruction.operation.for_each_operand(|operand| open.push(operand));
    }
    false
}

/// The read that a write adds to or takes from: the write is the second half of `count++`.
fn counted_from(program: &Program, field: FieldId, place: Place) -> Option<u32> {
    let (body, instruction) = at(program, place)?;
    let value = written(instruction, field)?;
    counted(body, field, value)
}

fn counted(body: &Body, field: FieldId, value: ValueId) -> Option<u32> {
    let Operation::Binary { left, right, .. } = &body.defining_instruction(value)?.operation else {
        return None;
    };
    let read = body.defining_instruction(*left).filter(|it| reads(it, field))?;
    constant(body, *right)?;
    Some(read.offset)
}

/// Whether what a read gets is used to count, and for nothing else.
fn is_only_counted(program: &Program, field: FieldId, place: Place) -> bool {
    let Some((body, read)) = at(program, place) else { return false };
    let Some(value) = read.result else { return false };
    let counts = |instruction: &Instruction| {
        written(instruction, field)
            .and_then(|value| counted(body, field, value))
            .is_some_and(|from| from == place.offset)
    };
    let race_facts = |used: ValueId| {
        let mut users: Vec<&Instruction> = Vec::new();
        for instruction in body.instructions() {
            instruction.operation.for_each_operand(|operand| {
                if operand == used {
                    users.push(instruction);
                }
            });
        }
        let is_elsewhere = body.blocks.iter().any(|block| {
            block.terminator.operands().any(|operand| operand == used)
                || block.phis.iter().any(|phi| phi.inputs.contains(&Some(used)))
        });
        (!is_elsewhere).then_some(users)
    };
    // The read is used once, by the sum; and the sum once, by the write.
    let only_user = |used: ValueId| match race_facts(used).as_deref() {
        Some([user]) => Some(*user),
        Some(_) | None => None,
    };
    only_user(value).and_then(|sum| only_user(sum.result?)).is_some_and(counts)
}
