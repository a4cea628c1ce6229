//! The blocks of a method, and how control moves between them.

use classes::bytecode::{Instruction, decode_all};
use classes::{ClassFile, Code};
use rustc_hash::FxHashMap;

use crate::gap::GapReason;
use crate::tree::Way;

/// One way out of a block, or several that lead to the same place.
#[derive(Clone, Debug)]
pub(crate) struct BlockExit {
    /// Empty when the block has one way out only.
    pub(crate) ways: Vec<Way>,
    pub(crate) target: usize,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In the only block that can follow.
    Next,
    /// In one of at least two blocks.
    Decision,
    Return,
    Throw,
}

/// Instructions that are executed one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Positions in [`Flow::instructions`], the last one included.
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) offset: u32,
    pub(crate) ending: Ending,
    /// Where control goes without an exception, each place once.
    pub(crate) exits: Vec<BlockExit>,
    /// The handlers that catch what is thrown in the block, each once.
    pub(crate) handlers: Vec<usize>,
    /// The handlers whose code it is part of, whether or not it can throw.
    pub(crate) guarded_by: Vec<usize>,
    pub(crate) is_handler: bool,
    /// Whether anything leads to the block, exceptions included.
    pub(crate) is_reachable: bool,
}

/// The body of a method as blocks; the first one is where it begins.
pub(crate) struct Flow {
    pub(crate) instructions: Vec<(u32, Instruction)>,
    pub(crate) blocks: Vec<Block>,
}

impl Flow {
    pub(crate) fn of(class: &ClassFile, code: &Code) -> Result<Flow, GapReason> {
        let instructions = decode_all(class.code_bytes(code)).map_err(|_| GapReason::Malformed)?;
        if instructions
            .iter()
            .any(|(_, it)| matches!(it, Instruction::Jsr(_) | Instruction::Ret { .. }))
        {
            return Err(GapReason::Subroutine);
        }
        let index_of = |offset: u32| {
            instructions
                .binary_search_by_key(&offset, |(at, _)| *at)
                .map_err(|_| GapReason::Malformed)
        };
        let mut starts = vec![false; instructions.len() + 1];
        starts[0] = true;
        for (index, (_, instruction)) in instructions.iter().enumerate() {
            match instruction {
                Instruction::Goto(target) | Instruction::Branch { target, .. } => {
                    starts[index_of(*target)?] = true;
                    starts[index + 1] = true;
                }
                Instruction::Switch { default, cases } => {
                    starts[index_of(*default)?] = true;
                    for (_, target) in cases {
                        starts[index_of(*target)?] = true;
                    }
                    starts[index + 1] = true;
                }
                Instruction::Return(_) | Instruction::Throw | Instruction::MonitorEnter => {
                    starts[index + 1] = true;
                }
                // Where synchronized code ends is a place where sides can meet.
                Instruction::MonitorExit => starts[index] = true,
                _ => {}
            }
        }
        for handler in &code.handlers {
            starts[index_of(handler.target)?] = true;
        }
        let firsts: Vec<usize> = (0..instructions.len()).filter(|index| starts[*index]).collect();
        let block_of =
            |index: usize| firsts.binary_search(&index).map_err(|_| GapReason::Malformed);
        let mut blocks = Vec::with_capacity(firsts.len());
        for (position, first) in firsts.iter().copied().enumerate() {
            let next = firsts.get(position + 1).copied();
            let last = next.unwrap_or(instructions.len()) - 1;
            let mut exits = Exits::default();
            let follow = || next.map(|_| position + 1).ok_or(GapReason::Malformed);
            let mut ending = Ending::Next;
            match &instructions[last].1 {
                Instruction::Branch { target, .. } => {
                    exits.add(block_of(index_of(*target)?)?, Way::Taken);
                    exits.add(follow()?, Way::NotTaken);
                }
                Instruction::Switch { default, cases } => {
                    for (value, target) in cases {
                        exits.add(block_of(index_of(*target)?)?, Way::Case(*value));
                    }
                    exits.add(block_of(index_of(*default)?)?, Way::Default);
                }
                Instruction::Goto(target) => exits.add(block_of(index_of(*target)?)?, Way::Taken),
                Instruction::Return(_) => ending = Ending::Return,
                Instruction::Throw => ending = Ending::Throw,
                _ => exits.add(follow()?, Way::NotTaken),
            }
            if exits.list.len() > 1 {
                ending = Ending::Decision;
            }
            let (mut handlers, mut guarded_by) = (Vec::new(), Vec::new());
            for row in &code.handlers {
                let handler = block_of(index_of(row.target)?)?;
                let is_within =
                    row.start <= instructions[last].0 && instructions[first].0 < row.end;
                if is_within && !guarded_by.contains(&handler) {
                    guarded_by.push(handler);
                }
            }
            for (offset, instruction) in &instructions[first..=last] {
                if !instruction.may_throw() {
                    continue;
                }
                for row in code.handlers.iter().filter(|row| (row.start..row.end).contains(offset))
                {
                    let handler = block_of(index_of(row.target)?)?;
                    if !handlers.contains(&handler) {
                        handlers.push(handler);
                    }
                    if row.catch_type.is_none() {
                        break;
                    }
                }
            }
            blocks.push(Block {
                first,
                last,
                offset: instructions[first].0,
                ending,
                exits: exits.list,
                handlers,
                guarded_by,
                is_handler: false,
                is_reachable: false,
            });
        }
        for handler in &code.handlers {
            blocks[block_of(index_of(handler.target)?)?].is_handler = true;
        }
        let mut flow = Flow { instructions, blocks };
        for block in flow.reverse_post_order() {
            flow.blocks[block].is_reachable = true;
        }
        Ok(flow)
    }

    /// The instruction that decides where a block goes, with its offset.
    pub(crate) fn last_instruction(&self, block: usize) -> (u32, &Instruction) {
        let (offset, instruction) = &self.instructions[self.blocks[block].last];
        (*offset, instruction)
    }

    /// Where control goes from a block, exceptions included.
    pub(crate) fn successors(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        let block = &self.blocks[block];
        block.exits.iter().map(|exit| exit.target).chain(block.handlers.iter().copied())
    }

    /// The blocks that anything leads to, each before those that it leads to unless these lead back.
    pub(crate) fn reverse_post_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut seen = vec![false; self.blocks.len()];
        seen[0] = true;
        let mut open: Vec<(usize, Vec<usize>)> = vec![(0, self.successors(0).collect())];
        while let Some((block, rest)) = open.last_mut() {
            match rest.pop() {
                Some(next) if !seen[next] => {
                    seen[next] = true;
                    open.push((next, self.successors(next).collect()));
                }
                Some(_) => {}
                None => {
                    order.push(*block);
                    open.pop();
                }
            }
        }
        order.reverse();
        order
    }
}

/// Ways out, collected by where they lead.
#[derive(Default)]
struct Exits {
    list: Vec<BlockExit>,
    position: FxHashMap<usize, usize>,
}

impl Exits {
    fn add(&mut self, target: usize, way: Way) {
        let next = self.list.len();
        let position = *self.position.entry(target).or_insert(next);
        if position == next {
            self.list.push(BlockExit { ways: Vec::new(), target });
        }
        self.list[position].ways.push(way);
    }
}
