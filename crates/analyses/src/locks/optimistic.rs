//! Reads under a lock that is not held: between an optimistic acquisition (`StampedLock.tryOptimisticRead`) and the call
//! that tells whether anybody wrote meanwhile.
//!
//! Property: from a read that is listed, every path that ends in a return goes through the validation of the stamp that was
//! taken before. What such a read got while somebody wrote is known to be worthless before the method is left.
//!
//! Misses stamps that are validated in another method. Takes for granted that nothing is done with what was read before
//! it is validated.

use std::collections::{BTreeMap, BTreeSet};

use program::Program;
use program::ids::{BlockId, ValueId};
use program::ir::{Body, Call, Definition, Instruction, Operation, Terminator};
use program::models::{Effect, Mode};

use super::confined::is_same_object;

/// An optimistic acquisition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptimisticLock {
    /// The lock.
    pub lock: ValueId,
    /// Where the stamp is taken.
    pub offset: u32,
}

/// The reads of a body that are validated, by offset.
#[derive(Debug, Default)]
pub struct OptimisticReads {
    reads: BTreeMap<u32, OptimisticLock>,
}

/// A place in a body: the block, and the position in it.
type Position = (BlockId, usize);

impl OptimisticReads {
    /// Those of a body.
    #[must_use]
    pub fn of(program: &Program, body: &Body) -> OptimisticReads {
        let mut found = OptimisticReads::default();
        if !calls(body).any(|(_, _, call)| is_optimistic(program, call)) {
            return found;
        }
        for (block, position, call) in calls(body) {
            let declared = &program.methods[call.method];
            let class = &program.classes[declared.class].name;
            let [lock, stamp, ..] = &*call.arguments else { continue };
            if !program.models().validates(class, &declared.name, &declared.descriptor) {
                continue;
            }
            let lock = body.without_casts(*lock);
            for source in sources(body, *stamp) {
                let Some(acquisition) = acquisition(program, body, source, lock) else { continue };
                found.note(body, acquisition, (block, position));
            }
        }
        found
    }

    /// The lock that a read at an offset is validated with.
    #[must_use]
    pub fn lock_at(&self, offset: u32) -> Option<OptimisticLock> {
        self.reads.get(&offset).copied()
    }

    /// Adds the reads between an acquisition and a validation.
    fn note(
        &mut self,
        body: &Body,
        (taken, acquired): (OptimisticLock, Position),
        validated: Position,
    ) {
        let mut reached: BTreeSet<BlockId> = BTreeSet::new();
        if acquired.0 != validated.0 || acquired.1 > validated.1 {
            let mut todo = vec![acquired.0];
            while let Some(block) = todo.pop() {
                for next in body.blocks[block].terminator.successors() {
                    if reached.insert(next) && next != validated.0 {
                        todo.push(next);
                    }
                }
            }
            if !reached.contains(&validated.0) {
                return;
            }
        }
        let is_between = |block: BlockId, position: usize| {
            let is_after = block != acquired.0 || position > acquired.1;
            let is_before = block != validated.0 || position < validated.1;
            let is_there = reached.contains(&block) || block == acquired.0;
            is_there && is_after && is_before && !leaves_without(body, block, validated.0)
        };
        for (block, content) in body.blocks.iter_with_ids() {
            for (position, instruction) in content.instructions.iter().enumerate() {
                if is_read(instruction) && is_between(block, position) {
                    self.reads.insert(instruction.offset, taken);
                }
            }
        }
    }
}

fn is_read(instruction: &Instruction) -> bool {
    matches!(
        instruction.operation,
        Operation::GetField { .. } | Operation::GetStatic(_) | Operation::ArrayLoad { .. }
    )
}

fn calls(body: &Body) -> impl Iterator<Item = (BlockId, usize, &Call)> {
    body.blocks.iter_with_ids().flat_map(|(id, block)| {
        let instructions = block.instructions.iter().enumerate();
        instructions.filter_map(move |(position, instruction)| match &instruction.operation {
            Operation::Call(call) => Some((id, position, &**call)),
            _ => None,
        })
    })
}

fn is_optimistic(program: &Program, call: &Call) -> bool {
    let mut effects = program.effects_of(call.method).iter();
    effects.any(|effect| matches!(effect, Effect::Acquire { mode: Mode::Optimistic, .. }))
}

/// The values that a value may be, behind the places where paths meet.
fn sources(body: &Body, value: ValueId) -> BTreeSet<ValueId> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![body.without_casts(value)]);
    while let Some(value) = todo.pop() {
        if !seen.insert(value) {
            continue;
        }
        if let Definition::Phi(block) = body.definitions[value] {
            let phis = body.blocks[block].phis.iter().filter(|phi| phi.result == value);
            todo.extend(phis.flat_map(|phi| phi.inputs.iter().flatten().copied()));
        }
    }
    seen
}

/// The optimistic acquisition of a lock that a stamp comes from.
fn acquisition(
    program: &Program,
    body: &Body,
    stamp: ValueId,
    lock: ValueId,
) -> Option<(OptimisticLock, Position)> {
    let (block, position, call) = calls(body).find(|(block, position, _)| {
        body.blocks[*block].instructions[*position].result == Some(stamp)
    })?;
    let taken = body.without_casts(*call.arguments.first()?);
    let offset = body.blocks[block].instructions[position].offset;
    (is_optimistic(program, call) && is_same_object(body, taken, lock))
        .then_some((OptimisticLock { lock: taken, offset }, (block, position)))
}

/// Whether a method can return from a block without going through another.
fn leaves_without(body: &Body, from: BlockId, through: BlockId) -> bool {
    if from == through {
        return false;
    }
    let (mut seen, mut todo) = (BTreeSet::from([from]), vec![from]);
    while let Some(block) = todo.pop() {
        if matches!(body.blocks[block].terminator, Terminator::Return(_)) {
            return true;
        }
        for next in body.blocks[block].terminator.successors() {
            if next != through && seen.insert(next) {
                todo.push(next);
            }
        }
    }
    false
}
