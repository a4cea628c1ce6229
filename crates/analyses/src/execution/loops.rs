//! The natural loops of a body.
//!
//! Blocks are numbered in reverse post-order, so a way to a block with the same or a smaller number goes
//! back. Loops that are entered at several places are cut at the smallest block; javac makes none of them.

use program::ids::{BlockId, Id};
use program::ir::Body;

/// The loops of a body.
pub(super) struct Loops {
    /// The blocks of each loop, sorted; smaller loops first.
    loops: Vec<Vec<BlockId>>,
}

impl Loops {
    /// Finds them.
    pub(super) fn of(body: &Body) -> Loops {
        let mut loops: Vec<Vec<BlockId>> = Vec::new();
        for (header, block) in body.blocks.iter_with_ids() {
            let mut todo: Vec<BlockId> =
                block.predecessors.iter().copied().filter(|from| *from >= header).collect();
            if todo.is_empty() {
                continue;
            }
            let mut is_inside = vec![false; body.blocks.len()];
            is_inside[header.index()] = true;
            while let Some(block) = todo.pop() {
                if block < header || std::mem::replace(&mut is_inside[block.index()], true) {
                    continue;
                }
                todo.extend(&body.blocks[block].predecessors);
            }
            let inside: Vec<BlockId> =
                body.blocks.ids().filter(|block| is_inside[block.index()]).collect();
            loops.push(inside);
        }
        loops.sort_by_key(Vec::len);
        Loops { loops }
    }

    /// The innermost loop around a block.
    pub(super) fn innermost(&self, block: BlockId) -> Option<usize> {
        self.loops.iter().position(|inside| inside.binary_search(&block).is_ok())
    }

    /// The loops that are left on the way from one block to another.
    pub(super) fn left(&self, from: BlockId, to: BlockId) -> impl Iterator<Item = usize> + '_ {
        self.loops.iter().enumerate().filter_map(move |(at, inside)| {
            let leaves = inside.binary_search(&from).is_ok() && inside.binary_search(&to).is_err();
            leaves.then_some(at)
        })
    }
}
