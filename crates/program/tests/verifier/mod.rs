//! What must hold for every body in SSA form, checked without using how bodies are made.

#![allow(dead_code, reason = "each test uses the part it needs")]

use std::collections::BTreeSet;

use program::ids::Id;
use program::ir::{Body, Definition};
use program::{BlockId, ValueId};

/// The first thing that is wrong with a body, as a sentence; nothing when it is well formed.
pub(crate) fn flaw(body: &Body) -> Option<String> {
    check(body).err()
}

/// A place between instructions. An exception leaves a block with the values that its start has, so
/// start and end are places of their own: what an instruction defines exists at the end only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ProgramPoint(usize);

fn start_of(block: BlockId) -> ProgramPoint {
    ProgramPoint(2 * block.index())
}

fn end_of(block: BlockId) -> ProgramPoint {
    ProgramPoint(2 * block.index() + 1)
}

fn check(body: &Body) -> Result<(), String> {
    check_edges(body)?;
    check_definitions(body)?;
    let dominators = Dominators::of(body)?;
    check_uses(body, &dominators)?;
    check_phis(body)
}

fn normal_successors(body: &Body, block: BlockId) -> BTreeSet<BlockId> {
    body.blocks[block].terminator.successors().collect()
}

fn exceptional_successors(body: &Body, block: BlockId) -> BTreeSet<BlockId> {
    body.blocks[block].handlers.iter().map(|handler| handler.target).collect()
}

fn check_edges(body: &Body) -> Result<(), String> {
    let count = body.blocks.len();
    if count == 0 {
        return Err("there is no block".to_string());
    }
    let mut expected: Vec<Vec<BlockId>> = vec![Vec::new(); count];
    let mut entered_normally = vec![false; count];
    let mut entered_by_exception = vec![false; count];
    for from in body.blocks.ids() {
        for to in normal_successors(body, from) {
            let entered = entered_normally.get_mut(to.index());
            *entered.ok_or_else(|| format!("{from} goes to {to}, which is not there"))? = true;
            expected[to.index()].push(from);
        }
        for to in exceptional_successors(body, from) {
            let entered = entered_by_exception.get_mut(to.index());
            *entered.ok_or_else(|| format!("{from} throws to {to}, which is not there"))? = true;
            expected[to.index()].push(from);
        }
    }
    for (id, block) in body.blocks.iter_with_ids() {
        let mut known = block.predecessors.clone();
        known.sort_unstable();
        if known != expected[id.index()] {
            return Err(format!(
                "{id} lists predecessors {known:?} and has {:?}",
                expected[id.index()]
            ));
        }
        let by_exception = entered_by_exception[id.index()];
        if by_exception && entered_normally[id.index()] {
            return Err(format!("{id} is entered both by jumps and by exceptions"));
        }
        if by_exception != block.caught.is_some() {
            return Err(format!("{id}: a block catches exactly when exceptions enter it"));
        }
    }
    if !body.blocks[BlockId::new(0)].predecessors.is_empty() {
        return Err("the first block has predecessors".to_string());
    }
    Ok(())
}

fn check_definitions(body: &Body) -> Result<(), String> {
    let mut defined: Vec<Option<Definition>> = vec![None; body.definitions.len()];
    let mut define = |value: ValueId, definition: Definition| {
        let slot = defined
            .get_mut(value.index())
            .ok_or_else(|| format!("{value} has no entry among the definitions"))?;
        match slot.replace(definition) {
            Some(earlier) => Err(format!("{value} is defined by {earlier:?} and {definition:?}")),
            None => Ok(()),
        }
    };
    for (number, value) in body.parameters.iter().enumerate() {
        define(*value, Definition::Parameter(u16::try_from(number).unwrap()))?;
    }
    for (id, block) in body.blocks.iter_with_ids() {
        for phi in &block.phis {
            define(phi.result, Definition::Phi(id))?;
        }
        if let Some(caught) = block.caught {
            define(caught, Definition::Caught(id))?;
        }
        for (position, instruction) in block.instructions.iter().enumerate() {
            if let Some(result) = instruction.result {
                let position = u32::try_from(position).unwrap();
                define(result, Definition::Instruction(id, position))?;
            }
            if instruction.offset < block.offset || instruction.offset > block.end_offset {
                return Err(format!("{id} has an instruction outside its range of offsets"));
            }
        }
    }
    for (value, claimed) in body.definitions.iter_with_ids() {
        let found = defined[value.index()].unwrap_or(Definition::Removed);
        if found != *claimed {
            return Err(format!("{value} is defined by {found:?}, not by {claimed:?}"));
        }
    }
    Ok(())
}

/// Which places every way to a place leads through, by the algorithm of Cooper, Harvey and Kennedy.
struct Dominators {
    immediate: Vec<usize>,
    order: Vec<usize>,
}

impl Dominators {
    fn of(body: &Body) -> Result<Dominators, String> {
        let count = 2 * body.blocks.len();
        let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
        for id in body.blocks.ids() {
            // The end comes last, so that a depth-first walk numbers the usual path first.
            let start = start_of(id).0;
            successors[start] =
                exceptional_successors(body, id).into_iter().map(|to| start_of(to).0).collect();
            successors[start].push(end_of(id).0);
            successors[end_of(id).0] =
                normal_successors(body, id).into_iter().map(|to| start_of(to).0).collect();
        }
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (from, targets) in successors.iter().enumerate() {
            targets.iter().for_each(|to| predecessors[*to].push(from));
        }
        let post_order = post_order(&successors);
        if post_order.len() != count {
            return Err("some block cannot be reached".to_string());
        }
        let mut order = vec![0; count];
        for (position, place) in post_order.iter().enumerate() {
            order[*place] = position;
        }
        const UNSET: usize = usize::MAX;
        let mut immediate = vec![UNSET; count];
        immediate[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for place in post_order.iter().rev().copied().filter(|place| *place != 0) {
                let mut best = UNSET;
                for from in predecessors[place].iter().copied() {
                    if immediate[from] == UNSET {
                        continue;
                    }
                    best = if best == UNSET { from } else { meet(&immediate, &order, best, from) };
                }
                if immediate[place] != best {
                    immediate[place] = best;
                    changed = true;
                }
            }
        }
        Ok(Dominators { immediate, order })
    }

    fn dominates(&self, one: ProgramPoint, other: ProgramPoint) -> bool {
        let mut at = other.0;
        while self.order[at] < self.order[one.0] {
            at = self.immediate[at];
        }
        at == one.0
    }
}

fn meet(immediate: &[usize], order: &[usize], mut one: usize, mut other: usize) -> usize {
    while one != other {
        while order[one] < order[other] {
            one = immediate[one];
        }
        while order[other] < order[one] {
            other = immediate[other];
        }
    }
    one
}

fn post_order(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((place, next)) = stack.last_mut() {
        match successors[*place].get(*next) {
            Some(to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*to], true) {
                    stack.push((*to, 0));
                }
            }
            None => {
                order.push(*place);
                stack.pop();
            }
        }
    }
    order
}

/// Whether a value exists at a place.
fn is_available(
    body: &Body,
    dominators: &Dominators,
    value: ValueId,
    at: ProgramPoint,
) -> Result<bool, String> {
    Ok(match body.definitions[value] {
        Definition::Parameter(_) => true,
        Definition::Phi(block) | Definition::Caught(block) => {
            dominators.dominates(start_of(block), at)
        }
        Definition::Instruction(block, _) => dominators.dominates(end_of(block), at),
        Definition::Removed => return Err(format!("{value} is used and was removed")),
    })
}

fn check_uses(body: &Body, dominators: &Dominators) -> Result<(), String> {
    for (id, block) in body.blocks.iter_with_ids() {
        for phi in &block.phis {
            if phi.inputs.len() != block.predecessors.len() {
                return Err(format!(
                    "{} has {} inputs for {} predecessors",
                    phi.result,
                    phi.inputs.len(),
                    block.predecessors.len()
                ));
            }
            for (from, input) in block.predecessors.iter().zip(&phi.inputs) {
                let Some(input) = input else { continue };
                let at = if block.caught.is_some() { start_of(*from) } else { end_of(*from) };
                if !is_available(body, dominators, *input, at)? {
                    return Err(format!("{}: {input} does not reach from {from}", phi.result));
                }
            }
        }
        let used_at = |value: ValueId, position: usize| {
            let here = match body.definitions[value] {
                Definition::Instruction(defined_in, at) if defined_in == id => {
                    (at as usize) < position
                }
                _ => is_available(body, dominators, value, start_of(id))?,
            };
            if here { Ok(()) } else { Err(format!("{value} does not reach its use in {id}")) }
        };
        for (position, instruction) in block.instructions.iter().enumerate() {
            let mut result = Ok(());
            instruction.operation.for_each_operand(|value| {
                if result.is_ok() {
                    result = used_at(value, position);
                }
            });
            result?;
        }
        for value in block.terminator.operands() {
            used_at(value, block.instructions.len())?;
        }
    }
    Ok(())
}

/// No phi is superfluous: each joins at least two values, and something reads each.
fn check_phis(body: &Body) -> Result<(), String> {
    let mut todo: Vec<ValueId> = Vec::new();
    for block in body.blocks.iter() {
        for instruction in &block.instructions {
            instruction.operation.for_each_operand(|value| todo.push(value));
        }
        todo.extend(block.terminator.operands());
    }
    let mut live = vec![false; body.definitions.len()];
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut live[value.index()], true) {
            continue;
        }
        if let Definition::Phi(block) = body.definitions[value] {
            let phis = body.blocks[block].phis.iter().filter(|phi| phi.result == value);
            todo.extend(phis.flat_map(|phi| phi.inputs.iter().flatten()));
        }
    }
    for phi in body.blocks.iter().flat_map(|block| &block.phis) {
        let joined: BTreeSet<ValueId> =
            phi.inputs.iter().flatten().copied().filter(|input| *input != phi.result).collect();
        if joined.len() < 2 {
            return Err(format!("{} is a trivial phi of {joined:?}", phi.result));
        }
        if !live[phi.result.index()] {
            return Err(format!("{} is a phi that nothing reads", phi.result));
        }
    }
    Ok(())
}
