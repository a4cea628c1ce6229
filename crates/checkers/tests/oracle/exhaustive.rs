//! What serializable means, tried out: is there an order of the same operations, with every two that
//! conflict as they were, in which what belongs together is done without a break?
//!
//! Nothing here knows of graphs, cycles or who comes before whom, beyond pairs that conflict.

use crate::naive::conflict;
use crate::trace::{Op, Run};

/// The most operations of a run that all orders of are tried.
pub(crate) const MOST: usize = 16;

/// Whether the operations of each group can be done without a break. Groups have numbers; every operation
/// is of one.
fn can_be_unbroken(run: &Run, group_of: &[usize]) -> bool {
    let count = run.0.len();
    assert!(count <= MOST, "there are too many orders");
    let conflicts_before = |at: usize| {
        (0..at)
            .filter(|earlier| conflict(run.0[*earlier], run.0[at]))
            .fold(0_u32, |set, earlier| set | 1 << earlier)
    };
    let conflicts: Vec<u32> = (0..count).map(conflicts_before).collect();
    let mut groups = vec![0_u32; count];
    for (at, group) in group_of.iter().enumerate() {
        groups[*group] |= 1 << at;
    }
    // What is left to do depends only on what was done, in whatever order.
    let mut was_tried = vec![false; 1 << count];
    let mut pending = vec![0_u32];
    while let Some(done) = pending.pop() {
        if done == (1 << count) - 1 {
            return true;
        }
        if std::mem::replace(&mut was_tried[done as usize], true) {
            continue;
        }
        let broken = groups.iter().find(|group| *group & done != 0 && *group & !done != 0);
        let allowed = broken.copied().unwrap_or(u32::MAX);
        for at in 0..count {
            let is_next = done & (1 << at) == 0 && conflicts[at] & !done == 0;
            if is_next && allowed & (1 << at) != 0 {
                pending.push(done | 1 << at);
            }
        }
    }
    false
}

/// For each operation, the beginnings of the blocks that it is in, outermost first; the beginning and the end
/// of a block are in it.
fn blocks(run: &Run) -> Vec<Vec<usize>> {
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); 16];
    let mut found = Vec::new();
    for (at, operation) in run.0.iter().enumerate() {
        let open = &mut open[operation.thread as usize];
        if operation.op == Op::Begin {
            open.push(at);
        }
        found.push(open.clone());
        if operation.op == Op::End {
            open.pop();
        }
    }
    found
}

/// Whether all transactions can be done without a break.
pub(crate) fn is_serializable(run: &Run) -> bool {
    let outermost = blocks(run).into_iter().enumerate();
    let groups: Vec<usize> =
        outermost.map(|(at, blocks)| blocks.first().copied().unwrap_or(at)).collect();
    can_be_unbroken(run, &groups)
}

/// Whether one block, which begins with this operation, can be done without a break.
pub(crate) fn is_self_serializable(run: &Run, begin: usize) -> bool {
    let blocks = blocks(run).into_iter().enumerate();
    let groups: Vec<usize> =
        blocks.map(|(at, blocks)| if blocks.contains(&begin) { begin } else { at }).collect();
    can_be_unbroken(run, &groups)
}
