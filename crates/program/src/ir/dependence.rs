//! Which branches decide whether a block runs.
//!
//! A block is control dependent on a branch when one way out of the branch always leads to the block
//! and another may avoid it (Ferrante, Ottenstein and Warren): the block post-dominates one
//! successor of the branch, but not the branch itself. Exceptions are left out: nearly every
//! instruction may throw, and that a later one runs only if no earlier one threw decides nothing. An
//! exception handler therefore begins without deciders.

use crate::ids::{BlockId, Id, TypedVec};
use crate::ir::{Body, Terminator};

/// The branches that decide about each block of a body.
#[derive(Debug)]
pub struct ControlDependence {
    deciders: TypedVec<BlockId, Vec<BlockId>>,
}

impl ControlDependence {
    /// Computes it.
    #[must_use]
    pub fn of(body: &Body) -> ControlDependence {
        let mut deciders: TypedVec<BlockId, Vec<BlockId>> =
            TypedVec::filled(Vec::new(), body.blocks.len());
        let post_dominators = PostDominators::of(body);
        for (id, block) in body.blocks.iter_with_ids() {
            if !matches!(block.terminator, Terminator::Branch { .. } | Terminator::Switch { .. }) {
                continue;
            }
            let stop = post_dominators.of_block(id);
            for successor in block.terminator.successors() {
                // Up the tree of post-dominators, from the successor to what comes after in any
                // case.
                let mut at = Some(successor);
                while let Some(block) = at
                    && at != stop
                {
                    if deciders[block].last() != Some(&id) {
                        deciders[block].push(id);
                    }
                    at = post_dominators.of_block(block);
                }
            }
        }
        for list in deciders.iter_mut() {
            list.sort_unstable();
            list.dedup();
        }
        ControlDependence { deciders }
    }

    /// The branches that decide directly whether the block runs, sorted.
    #[must_use]
    pub fn deciders(&self, block: BlockId) -> &[BlockId] {
        &self.deciders[block]
    }

    /// The branches that decide whether the block runs, directly or through other branches, sorted.
    #[must_use]
    pub fn all_deciders(&self, block: BlockId) -> Vec<BlockId> {
        let mut found: Vec<BlockId> = Vec::new();
        let mut todo = vec![block];
        while let Some(block) = todo.pop() {
            for decider in &self.deciders[block] {
                if let Err(at) = found.binary_search(decider) {
                    found.insert(at, *decider);
                    todo.push(*decider);
                }
            }
        }
        found
    }
}

/// Blocks of a body whose retries are looked for, at most.
const MOST_BLOCKS: usize = 256;

/// The branches that decide whether control gets to a block now, or comes back to the same branch first, sorted: `if
/// (isChanged) continue;`. A loop that ends with the block alone always gets there, so that the block does not depend on such a
/// branch; which values it finds there does.
#[must_use]
pub fn retries_before(body: &Body, block: BlockId) -> Vec<BlockId> {
    if body.blocks.len() > MOST_BLOCKS {
        return Vec::new();
    }
    let leads_there = |from: BlockId, without: BlockId| {
        let mut seen: TypedVec<BlockId, bool> = TypedVec::filled(false, body.blocks.len());
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            if at == block {
                return true;
            }
            if at != without && !std::mem::replace(&mut seen[at], true) {
                todo.extend(body.blocks[at].terminator.successors());
            }
        }
        false
    };
    let is_retry = |branch: &BlockId| {
        let ways = || body.blocks[*branch].terminator.successors();
        *branch != block
            && ways().nth(1).is_some()
            && ways().any(|way| leads_there(way, *branch))
            && ways().any(|way| !leads_there(way, *branch))
    };
    body.blocks.ids().filter(is_retry).collect()
}

/// The tree of post-dominators, rooted in an exit that all ends of the method lead to (Cooper,
/// Harvey and Kennedy, "A simple, fast dominance algorithm", on the reversed graph).
struct PostDominators {
    /// Position of the exit is the number of blocks.
    immediate: Vec<usize>,
}

const UNKNOWN: usize = usize::MAX;

impl PostDominators {
    fn of(body: &Body) -> PostDominators {
        let exit = body.blocks.len();
        let mut successors: Vec<Vec<usize>> = body
            .blocks
            .iter()
            .map(|block| block.terminator.successors().map(Id::index).collect())
            .collect();
        successors.push(Vec::new());
        for targets in successors[..exit].iter_mut().filter(|targets| targets.is_empty()) {
            targets.push(exit);
        }
        let mut predecessors = reversed(&successors);
        // A loop that is never left has no way to the exit; its jumps back get one, so that every
        // block has a place in the tree.
        let mut ends = vec![false; exit + 1];
        post_order(exit, &predecessors).into_iter().for_each(|block| ends[block] = true);
        if ends.contains(&false) {
            for (block, targets) in successors[..exit].iter_mut().enumerate() {
                if !ends[block] && targets.iter().any(|target| *target <= block) {
                    targets.push(exit);
                }
            }
            predecessors = reversed(&successors);
        }
        let order = post_order(exit, &predecessors);
        let mut number = vec![UNKNOWN; exit + 1];
        order.iter().enumerate().for_each(|(position, block)| number[*block] = position);
        let mut immediate = vec![UNKNOWN; exit + 1];
        immediate[exit] = exit;
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().rev().copied().filter(|block| *block != exit) {
                let mut new = UNKNOWN;
                for next in &successors[block] {
                    if immediate[*next] == UNKNOWN {
                        continue;
                    }
                    new =
                        if new == UNKNOWN { *next } else { meet(&immediate, &number, new, *next) };
                }
                if immediate[block] != new {
                    immediate[block] = new;
                    changed = true;
                }
            }
        }
        PostDominators { immediate }
    }

    /// The block that every way from this one to the end of the method comes to first; `None` for
    /// the end itself.
    fn of_block(&self, block: BlockId) -> Option<BlockId> {
        let immediate = self.immediate[block.index()];
        (immediate < self.immediate.len() - 1).then(|| BlockId::new(immediate))
    }
}

/// The closest common ancestor in the tree built so far.
fn meet(immediate: &[usize], number: &[usize], one: usize, other: usize) -> usize {
    let (mut one, mut other) = (one, other);
    while one != other {
        while number[one] < number[other] {
            one = immediate[one];
        }
        while number[other] < number[one] {
            other = immediate[other];
        }
    }
    one
}

fn reversed(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|to| reversed[*to].push(from));
    }
    reversed
}

/// The blocks that lead to the start, in post-order of a depth-first walk against the edges.
fn post_order(start: usize, edges: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    let mut work = vec![(start, 0)];
    seen[start] = true;
    while let Some((block, next)) = work.last_mut() {
        match edges[*block].get(*next) {
            Some(to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*to], true) {
                    work.push((*to, 0));
                }
            }
            None => {
                order.push(*block);
                work.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::{MethodId, ValueId};
    use crate::ir::Block;

    fn body(targets: &[Vec<usize>]) -> Body {
        let blocks = targets.iter().map(|targets| Block {
            offset: 0,
            end_offset: 0,
            phis: Vec::new(),
            caught: None,
            instructions: Vec::new(),
            terminator: match &targets[..] {
                [] => Terminator::Return(None),
                [only] => Terminator::Goto(BlockId::new(*only)),
                [default, cases @ ..] => Terminator::Switch {
                    value: ValueId::new(0),
                    cases: cases.iter().map(|to| (0, BlockId::new(*to))).collect(),
                    default: BlockId::new(*default),
                },
            },
            handlers: Vec::new(),
            predecessors: Vec::new(),
        });
        Body {
            method: MethodId::new(0),
            blocks: blocks.collect(),
            parameters: Vec::new(),
            definitions: TypedVec::new(),
            names: rustc_hash::FxHashMap::default(),
        }
    }

    /// Whether a walk from `from` can come to an end without passing `avoided`.
    fn can_end_without(targets: &[Vec<usize>], from: usize, avoided: usize) -> bool {
        let mut seen = vec![false; targets.len()];
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            if at == avoided || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if targets[at].is_empty() {
                return true;
            }
            todo.extend(&targets[at]);
        }
        false
    }

    fn can_end(targets: &[Vec<usize>], from: usize) -> bool {
        can_end_without(targets, from, usize::MAX)
    }

    proptest! {
        #[test]
        fn a_block_is_decided_where_one_way_leads_to_it_and_another_may_not(
            targets in prop::collection::vec(prop::collection::vec(0usize..9, 0..3), 9)
        ) {
            // Loops that are never left are given an arbitrary end; the definition has none.
            prop_assume!((0..targets.len()).all(|block| can_end(&targets, block)));
            let dependence = ControlDependence::of(&body(&targets));
            for block in 0..targets.len() {
                for branch in 0..targets.len() {
                    let always = |from: usize| !can_end_without(&targets, from, block);
                    let decides = targets[branch].iter().any(|next| always(*next))
                        && (branch == block || !always(branch))
                        && targets[branch].iter().any(|next| !always(*next));
                    let found =
                        dependence.deciders(BlockId::new(block)).contains(&BlockId::new(branch));
                    prop_assert_eq!(found, decides, "block {} branch {}", block, branch);
                }
            }
        }
    }

    #[test]
    fn a_loop_without_end_still_decides() {
        // 0 → 1; 1 → 2 or 3; 2 → 1; 3 → 1.
        let dependence = ControlDependence::of(&body(&[vec![1], vec![2, 3], vec![1], vec![1]]));
        assert!(dependence.deciders(BlockId::new(2)).contains(&BlockId::new(1)));
        assert!(dependence.deciders(BlockId::new(3)).contains(&BlockId::new(1)));
    }
}
