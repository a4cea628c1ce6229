//! Where the main method is alone: before it has started a thread, and after it has waited for all that it started.
//!
//! Property: at two places that are said to be alone, and between them, no thread runs but the one that executes the main method,
//! if all threads of the program are started and waited for in that method. A method that only the main method gets to is
//! alone if it is at each call that leads there.
//!
//! Misses threads that others than the main method start, and programs that call the main method once more. Takes for
//! granted that a loop that joins threads joins all that a loop has started, that whoever waits for the end of an
//! executor waits long enough, and that methods without callers are called by somebody else.

use std::collections::BTreeSet;

use program::Program;
use program::ids::{BlockId, MethodId, ValueId};
use program::ir::{Body, Operation};
use program::models::{Effect, EntryThread, Operand, Runner};
use program::threads::{self, RootKind};

use crate::Context;
use crate::locks::is_same_object;

/// The main method of a program whose threads are all started there.
pub(crate) struct MainMethod {
    method: Option<MethodId>,
    /// What the threads and tasks begin with that it starts.
    started: BTreeSet<MethodId>,
}

/// A call that starts a thread, or waits for its end.
struct ThreadCall {
    /// The thread, or the executor that was given a task; none if the call names neither.
    thread: Option<ValueId>,
    block: BlockId,
    position: usize,
}

/// How a call names the thread or the executor.
enum Named {
    /// It is the receiver.
    Receiver,
    /// In another way, or not at all.
    Otherwise,
}

impl MainMethod {
    pub(crate) fn of(context: &Context<'_>) -> MainMethod {
        let program = context.program;
        let roots = threads::roots(program, context.graph, &context.config.entry_points);
        let is_main = |kind: RootKind| matches!(kind, RootKind::Entry(EntryThread::Main));
        let mut mains = roots.iter().filter(|root| is_main(root.kind)).map(|root| root.method);
        let main = mains.next().filter(|_| mains.next().is_none());
        let method = main.filter(|main| {
            let here = program.site(*main, 0).method_name();
            roots.iter().all(|root| {
                is_main(root.kind)
                    || (matches!(root.kind, RootKind::Started | RootKind::Submitted)
                        && !root.started_at.is_empty()
                        && root.started_at.iter().all(|site| site.method_name() == here))
            })
        });
        let starts_elsewhere = |main: &MethodId| {
            let mut methods =
                program.methods_with_bodies().filter(|it| program.is_application(*it));
            methods.any(|method| method != *main && starts_threads(program, method))
        };
        let method = method.filter(|main| !starts_elsewhere(main));
        let started = roots.iter().filter(|root| !is_main(root.kind)).map(|root| root.method);
        MainMethod { method, started: started.collect() }
    }

    /// Whether no other thread runs from one place of a method to another.
    pub(crate) fn is_alone(
        &self,
        context: &Context<'_>,
        method: MethodId,
        from: u32,
        to: u32,
    ) -> bool {
        match self.method {
            Some(main) if main == method => is_alone_in(context, main, from, to),
            Some(main) => self.is_called_alone(context, main, method),
            None => false,
        }
    }

    /// Whether the main method alone gets to a method, and has no other thread beside it whenever it does.
    fn is_called_alone(&self, context: &Context<'_>, main: MethodId, method: MethodId) -> bool {
        let graph = context.graph;
        let (mut leading, mut todo) = (BTreeSet::from([method]), vec![method]);
        while let Some(callee) = todo.pop() {
            let callers = graph.callers(callee);
            if callers.is_empty() || self.started.contains(&callee) || leading.len() > MOST_LEADING
            {
                return false;
            }
            let further = callers.iter().filter(|caller| **caller != main);
            todo.extend(further.copied().filter(|caller| leading.insert(*caller)));
        }
        let leads_there = |offset: u32| {
            graph.targets(main, offset).iter().any(|target| leading.contains(&target.method))
        };
        let mut calls = graph.sites(main).iter().filter(|site| leads_there(site.offset)).peekable();
        calls.peek().is_some()
            && calls.all(|site| is_alone_in(context, main, site.offset, site.offset))
    }
}

/// Whether a method starts a thread or hands a task to one.
fn starts_threads(program: &Program, method: MethodId) -> bool {
    let is_start = |effect: &Effect| matches!(effect, Effect::Fork { .. } | Effect::Submit { .. });
    program.body(method).is_some_and(|body| {
        body.instructions().any(|instruction| match &instruction.operation {
            Operation::Call(call) => program.effects_of(call.method).iter().any(is_start),
            _ => false,
        })
    })
}

/// Methods that lead to one, at most; of what so many call nobody can say that one thread alone does.
const MOST_LEADING: usize = 1000;

/// Whether no other thread runs from one place of the main method to another.
fn is_alone_in(context: &Context<'_>, main: MethodId, from: u32, to: u32) -> bool {
    let program = context.program;
    let Some(body) = program.body(main) else { return false };
    let find = |wanted: fn(&Effect) -> Option<Named>| -> Vec<ThreadCall> {
        let mut found = Vec::new();
        for (block, in_block) in body.blocks.iter_with_ids() {
            for (position, instruction) in in_block.instructions.iter().enumerate() {
                let Operation::Call(call) = &instruction.operation else { continue };
                for named in program.effects_of(call.method).iter().filter_map(wanted) {
                    let thread = match named {
                        Named::Receiver => call.arguments.first().map(|it| body.without_casts(*it)),
                        Named::Otherwise => None,
                    };
                    found.push(ThreadCall { thread, block, position });
                }
            }
        }
        found
    };
    let starts = find(|effect| match effect {
        Effect::Fork { task: Operand::Receiver }
        | Effect::Submit { to: Runner::Executor(Operand::Receiver), .. } => Some(Named::Receiver),
        Effect::Fork { .. } | Effect::Submit { .. } => Some(Named::Otherwise),
        _ => None,
    });
    let joins = find(|effect| match effect {
        Effect::Join { task: Operand::Receiver, .. } => Some(Named::Receiver),
        _ => None,
    });
    let (Some(from), Some(to)) = (position(body, from), position(body, to)) else {
        return false;
    };
    let nowhere = BTreeSet::new();
    starts.iter().all(|start| {
        let at = (start.block, start.position);
        let has_ended = joins.iter().any(|join| {
            let is_one = match (start.thread, join.thread) {
                (Some(start), Some(join)) => is_same_object(body, start, join),
                (None, _) | (_, None) => return false,
            };
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
