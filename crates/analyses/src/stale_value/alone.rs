//! Where the main method is alone: before it has started a thread, and after it has waited for all that it started.
//!
//! Property: at two places that are said to be alone, and between them, no thread runs but the one that executes the main method,
//! if all threads of the program are started and joined in that method.
//!
//! Misses programs with executors, with threads that others start, and those that call the main method once more. Takes for
//! granted that a loop that joins threads joins all that a loop has started.

use std::collections::BTreeSet;

use program::ids::{BlockId, MethodId, ValueId};
use program::ir::{Body, Operation};
use program::models::{Effect, EntryThread, Operand};
use program::threads::{self, RootKind};

use crate::Context;
use crate::locks::is_same_object;

/// The main method of a program whose threads are all started there.
pub(super) struct MainMethod {
    method: Option<MethodId>,
}

/// A call that starts a thread, or waits for its end.
struct ThreadCall {
    thread: ValueId,
    block: BlockId,
    position: usize,
}

impl MainMethod {
    pub(super) fn of(context: &Context<'_>) -> MainMethod {
        let program = context.program;
        let roots = threads::roots(program, context.graph, &context.config.entry_points);
        let is_main = |kind: RootKind| matches!(kind, RootKind::Entry(EntryThread::Main));
        let mut mains = roots.iter().filter(|root| is_main(root.kind)).map(|root| root.method);
        let main = mains.next().filter(|_| mains.next().is_none());
        let method = main.filter(|main| {
            let here = program.site(*main, 0).method_name();
            roots.iter().all(|root| {
                is_main(root.kind)
                    || (root.kind == RootKind::Started
                        && !root.started_at.is_empty()
                        && root.started_at.iter().all(|site| site.method_name() == here))
            })
        });
        MainMethod { method }
    }

    /// Whether no other thread runs from one place of a method to another.
    pub(super) fn is_alone(
        &self,
        context: &Context<'_>,
        method: MethodId,
        from: u32,
        to: u32,
    ) -> bool {
        let program = context.program;
        let Some(body) = program.body(method).filter(|_| self.method == Some(method)) else {
            return false;
        };
        let find = |wanted: fn(&Effect) -> Option<Operand>| -> Vec<ThreadCall> {
            let mut found = Vec::new();
            for (block, position, call) in body.blocks.iter_with_ids().flat_map(|(id, block)| {
                let instructions = block.instructions.iter().enumerate();
                instructions.filter_map(move |(position, it)| match &it.operation {
                    Operation::Call(call) => Some((id, position, call)),
                    _ => None,
                })
            }) {
                let effects = program.effects_of(call.method).iter().filter_map(wanted);
                for _ in effects.filter(|operand| *operand == Operand::Receiver) {
                    if let Some(thread) = call.arguments.first() {
                        let thread = body.without_casts(*thread);
                        found.push(ThreadCall { thread, block, position });
                    }
                }
            }
            found
        };
        let starts = find(|effect| match effect {
            Effect::Fork { task } => Some(*task),
            _ => None,
        });
        let joins = find(|effect| match effect {
            Effect::Join { task, .. } => Some(*task),
            _ => None,
        });
        let (Some(from), Some(to)) = (position(body, from), position(body, to)) else {
            return false;
        };
        let nowhere = BTreeSet::new();
        starts.iter().all(|start| {
            let at = (start.block, start.position);
            let has_ended = joins.iter().any(|join| {
                let is_one = is_same_object(body, start.thread, join.thread);
                let through = cycle(body, join.block);
                // Of threads in an array or a list, a loop waits for one after the other.
                let is_each = !through.is_empty() && !cycle(body, start.block).is_empty();
                let through = match through.first() {
                    Some(header) => BTreeSet::from([*header]),
                    None => BTreeSet::from([join.block]),
                };
                let is_here = join.block == from.0 && through.contains(&join.block);
                let is_passed = match is_here || join.block == start.block {
                    true => {
                        leads(body, at, (join.block, join.position), &nowhere)
                            && leads(body, (join.block, join.position), from, &nowhere)
                    }
                    false => !leads(body, at, from, &through),
                };
                (is_one || is_each) && is_passed
            });
            let is_between = leads(body, from, at, &nowhere) && leads(body, at, to, &nowhere);
            (has_ended || !leads(body, at, from, &nowhere)) && !is_between
        })
    }
}

fn position(body: &Body, offset: u32) -> Option<(BlockId, usize)> {
    body.blocks.iter_with_ids().find_map(|(id, block)| {
        Some((id, block.instructions.iter().position(|it| it.offset == offset)?))
    })
}

/// The blocks of the loop around a block; none if there is no loop.
fn cycle(body: &Body, block: BlockId) -> BTreeSet<BlockId> {
    let after = reached(body, block, &BTreeSet::new());
    let is_inside = |other: &BlockId| reached(body, *other, &BTreeSet::new()).contains(&block);
    match after.contains(&block) {
        true => after.iter().copied().filter(is_inside).collect(),
        false => BTreeSet::new(),
    }
}

/// The blocks that control gets to from a block, without some.
fn reached(body: &Body, from: BlockId, without: &BTreeSet<BlockId>) -> BTreeSet<BlockId> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from]);
    while let Some(block) = todo.pop() {
        for next in body.blocks[block].terminator.successors() {
            if !without.contains(&next) && seen.insert(next) {
                todo.push(next);
            }
        }
    }
    seen
}

/// Whether control can get from one position to another without going through some blocks.
fn leads(
    body: &Body,
    from: (BlockId, usize),
    to: (BlockId, usize),
    without: &BTreeSet<BlockId>,
) -> bool {
    (from.0 == to.0 && from.1 < to.1) || reached(body, from.0, without).contains(&to.0)
}
