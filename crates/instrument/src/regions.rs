//! The synchronized blocks of a method: which monitors are left where.

use classes::Handler;
use classes::bytecode::Instruction;

/// A synchronized block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Where its monitor is entered.
    pub(crate) enter: u32,
    /// Where it is left, in ascending order.
    pub(crate) exits: Vec<u32>,
    /// Whether it lies in no other block.
    pub(crate) is_outermost: bool,
}

/// The synchronized blocks, in the order of the code, when the monitors of the method are entered and
/// left in the same order on every path. Found by following the code with the list of monitors that are
/// open.
pub(crate) fn find(
    instructions: &[(u32, Instruction)],
    handlers: &[Handler],
) -> Option<Vec<Region>> {
    if !instructions.iter().any(|(_, it)| matches!(it, Instruction::MonitorEnter)) {
        return Some(Vec::new());
    }
    let index_of = |offset: u32| instructions.binary_search_by_key(&offset, |(at, _)| *at).ok();
    let mut open: Vec<Option<Vec<u32>>> = vec![None; instructions.len()];
    let mut pending = vec![0];
    *open.first_mut()? = Some(Vec::new());
    let mut regions: Vec<Region> = Vec::new();
    while let Some(index) = pending.pop() {
        let mut now = open[index].clone()?;
        let (offset, ref instruction) = instructions[index];
        let mut successors: Vec<(usize, Vec<u32>)> = Vec::new();
        if instruction.may_throw() {
            for handler in handlers.iter().filter(|row| (row.start..row.end).contains(&offset)) {
                successors.push((index_of(handler.target)?, now.clone()));
                if handler.catch_type.is_none() {
                    break;
                }
            }
        }
        match instruction {
            Instruction::MonitorEnter => {
                let is_outermost = now.is_empty();
                regions.push(Region { enter: offset, exits: Vec::new(), is_outermost });
                now.push(offset);
            }
            Instruction::MonitorExit => {
                let closed = now.pop()?;
                regions.iter_mut().find(|region| region.enter == closed)?.exits.push(offset);
            }
            Instruction::Goto(target) | Instruction::Branch { target, .. } => {
                successors.push((index_of(*target)?, now.clone()));
            }
            Instruction::Switch { default, cases } => {
                successors.push((index_of(*default)?, now.clone()));
                for (_, target) in cases {
                    successors.push((index_of(*target)?, now.clone()));
                }
            }
            Instruction::Jsr(_) | Instruction::Ret { .. } => return None,
            Instruction::Return(_) if !now.is_empty() => return None,
            _ => {}
        }
        if instruction.falls_through() {
            successors.push((index + 1, now));
        }
        for (successor, state) in successors {
            match open.get_mut(successor)? {
                place @ None => {
                    *place = Some(state);
                    pending.push(successor);
                }
                Some(known) if *known == state => {}
                Some(_) => return None,
            }
        }
    }
    regions.sort_by_key(|region| region.enter);
    for region in &mut regions {
        region.exits.sort_unstable();
    }
    Some(regions)
}
