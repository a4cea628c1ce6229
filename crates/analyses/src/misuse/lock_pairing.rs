//! Rules `lock-not-released` and `unlock-without-lock`, for locks that are acquired and released by calls.
//!
//! `lock-not-released`: a method releases a lock on one path, and can be left on another with the lock still held. A
//! method that never releases the lock leaves that to somebody else on purpose, and is not reported.
//! `unlock-without-lock`: on some path the lock that is released is surely not held, although the method itself
//! acquires it elsewhere; or it is released whether or not the attempt to acquire it succeeded, or whether or not it was
//! acquired at all.
//!
//! Misses: locks without a name that stays the same (hand-over-hand locking); exceptions of array accesses, divisions
//! and null references, which are no part of the design of the code.

use std::collections::BTreeSet;

use findings::{Finding, Severity};
use program::dataflow::{self, BlockTransition, Edge, Forward};
use program::ids::{BlockId, TypedVec, ValueId};
use program::ir::{
    Block, Body, Call, ControlDependence, Definition, Instruction, Operation, Terminator,
};
use program::models::{Effect, language};

use super::facts::MethodFacts;
use crate::locks::expression::{ElementIndex, ExpressionRoot, LockExpression, PathElement};
use crate::locks::{LockEvent, lock_events, succeeded, touches_lock};

const NOT_RELEASED: &str = "lock-not-released";
const NOT_HELD: &str = "unlock-without-lock";

/// What may be true of locks at one point.
#[derive(Clone, Debug, Default, PartialEq)]
struct MayHold {
    /// Whether control can get there at all.
    is_reached: bool,
    /// Locks that may be held, and where they were acquired.
    held: BTreeSet<(LockExpression, u32)>,
    /// Attempts whose result is not known yet.
    tried: BTreeSet<(ValueId, LockExpression, u32)>,
    /// Attempts that may have failed here.
    failed: BTreeSet<(LockExpression, u32)>,
    /// Locks of which the program remembers in its own way whether it holds them.
    remembered: BTreeSet<LockExpression>,
}

struct Pairing<'a, 'b> {
    method: &'a MethodFacts<'b>,
}

impl Pairing<'_, '_> {
    fn events(&self, instruction: &Instruction) -> Vec<LockEvent> {
        let Operation::Call(call) = &instruction.operation else { return Vec::new() };
        let method = self.method;
        let mut events = lock_events(method.program(), &method.expressions, instruction);
        if touches_lock(method.effects(call)) {
            return events;
        }
        // What the only method that can run does to the locks of its caller.
        let graph = method.facts.graph;
        if let [target] = graph.targets(method.method, instruction.offset) {
            let changes = &method.facts.guards.changes[target.method];
            let terms = method.expressions.terms(call, instruction.offset, true);
            let named = |lock: &LockExpression| {
                terms.translate(method.program(), *lock, target).map(|it| it.expression)
            };
            events.extend(
                changes
                    .released
                    .iter()
                    .map(|lock| LockEvent::Release { lock: named(lock), object: None }),
            );
            events.extend(
                changes
                    .acquired
                    .iter()
                    .map(|lock| LockEvent::Acquire { lock: named(lock), object: None }),
            );
        }
        events
    }

    /// A branch on what a lock itself says (`isHeldByCurrentThread`): the program knows better from there on.
    fn ask(&self, state: &mut MayHold, tested: ValueId) {
        let method = self.method;
        let asked = match method.body.defining_instruction(tested).map(|it| &it.operation) {
            Some(Operation::Call(call)) if !touches_lock(method.effects(call)) => {
                method.receiver(call).and_then(|it| method.expressions.of(it))
            }
            _ => None,
        };
        let Some(lock) = asked else { return };
        state.held.retain(|(held, _)| *held != lock);
        state.tried.retain(|(_, tried, _)| *tried != lock);
        state.failed.retain(|(failed, _)| *failed != lock);
        state.remembered.insert(lock);
    }

    fn apply(&self, state: &mut MayHold, instruction: &Instruction) {
        if !state.is_reached {
            return;
        }
        for event in self.events(instruction) {
            match event {
                LockEvent::Acquire { lock: Some(lock), object: None } => {
                    state.held.insert((lock, instruction.offset));
                    state.failed.retain(|(failed, _)| *failed != lock);
                    state.remembered.remove(&lock);
                }
                // What is held already is held however the attempt ends.
                LockEvent::TryAcquire { lock: Some(lock), .. }
                    if state.held.iter().any(|(held, _)| *held == lock) => {}
                LockEvent::TryAcquire { lock: Some(lock), result } => {
                    state.tried.insert((result, lock, instruction.offset));
                }
                LockEvent::Release { lock: Some(lock), object: None } => {
                    state.held.retain(|(held, _)| *held != lock);
                    state.tried.retain(|(_, tried, _)| *tried != lock);
                    state.remembered.remove(&lock);
                    state.failed.retain(|(failed, _)| *failed != lock);
                }
                LockEvent::Acquire { .. }
                | LockEvent::TryAcquire { .. }
                | LockEvent::Release { .. }
                | LockEvent::Wait { .. } => {}
            }
        }
    }
}

impl Forward for Pairing<'_, '_> {
    type State = MayHold;

    fn entry(&mut self, _body: &Body) -> MayHold {
        MayHold { is_reached: true, ..MayHold::default() }
    }

    fn join(&mut self, into: &mut MayHold, from: &MayHold) -> bool {
        let size = |it: &MayHold| {
            (it.is_reached, it.held.len(), it.tried.len(), it.failed.len(), it.remembered.len())
        };
        let before = size(into);
        into.is_reached |= from.is_reached;
        into.held.extend(&from.held);
        into.tried.extend(&from.tried);
        into.failed.extend(&from.failed);
        into.remembered.extend(&from.remembered);
        size(into) != before
    }

    fn enter_block(&mut self, _state: &mut MayHold, _block: &Block) {}

    fn instruction(&mut self, state: &mut MayHold, instruction: &Instruction) {
        self.apply(state, instruction);
    }

    /// A release that throws has released: nobody can try again. What does not throw by design leads to no handler.
    fn thrown(&mut self, state: &MayHold, instruction: &Instruction) -> MayHold {
        let throws = match &instruction.operation {
            Operation::Call(call) => may_throw(self.method, call, instruction.offset),
            _ => false,
        };
        if !throws {
            return MayHold::default();
        }
        let mut thrown = state.clone();
        for event in self.events(instruction) {
            if let LockEvent::Release { lock: Some(lock), .. } = event {
                thrown.held.retain(|(held, _)| *held != lock);
            }
        }
        thrown
    }

    fn leave_by(&mut self, state: &mut MayHold, passage: &BlockTransition<'_>) {
        if passage.edge == Edge::Exception {
            return;
        }
        let body = self.method.body;
        let Some((tested, is_true)) = succeeded(body, passage.block, passage.edge) else { return };
        self.ask(state, tested);
        let decided: Vec<_> =
            state.tried.iter().filter(|(result, ..)| *result == tested).copied().collect();
        for attempt in &decided {
            state.tried.remove(attempt);
            let (_, lock, offset) = *attempt;
            match is_true {
                true => {
                    state.held.insert((lock, offset));
                }
                false => {
                    state.failed.insert((lock, offset));
                }
            }
        }
        // Some other value may remember whether the attempt succeeded.
        let is_memory = matches!(body.definitions[tested], Definition::Phi(_))
            || matches!(
                body.defining_instruction(tested).map(|it| &it.operation),
                Some(
                    Operation::Call(_) | Operation::GetField { .. } | Operation::InstanceOf { .. }
                )
            );
        if decided.is_empty() && is_memory {
            let failed = std::mem::take(&mut state.failed);
            let tried = std::mem::take(&mut state.tried);
            state.remembered.extend(failed.into_iter().map(|(lock, _)| lock));
            state.remembered.extend(tried.into_iter().map(|(_, lock, _)| lock));
        }
    }
}

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    let mut flow = Pairing { method };
    let (mut acquired, mut released) = (BTreeSet::new(), BTreeSet::new());
    let mut has_unnamed_release = false;
    for (_, instruction) in method.instructions() {
        for event in flow.events(instruction) {
            match event {
                LockEvent::Acquire { lock: Some(lock), object: None }
                | LockEvent::TryAcquire { lock: Some(lock), .. } => {
                    acquired.insert(lock);
                }
                LockEvent::Release { lock: Some(lock), object: None } => {
                    released.insert(lock);
                }
                LockEvent::Release { lock: None, object: None } => has_unnamed_release = true,
                _ => {}
            }
        }
    }
    // A lock under a name that is not acquired here may be any of those that are.
    let is_clear = !has_unnamed_release && released.iter().all(|lock| acquired.contains(lock));
    let candidates: BTreeSet<LockExpression> = acquired
        .intersection(&released)
        .filter(|lock| keeps_its_meaning(method, lock))
        .copied()
        .collect();
    if candidates.is_empty() {
        return;
    }
    let states = dataflow::solve(method.body, &mut flow);
    report_where_skipped(method, &flow, &candidates, findings);
    let paired = released_where_held(method, &flow, &states, &candidates);
    // Locks that are released before they are acquired: callers hold them.
    let mut from_callers: BTreeSet<LockExpression> = BTreeSet::new();
    let mut leaks: BTreeSet<(LockExpression, u32, u32, Severity)> = BTreeSet::new();
    for (id, block) in method.body.blocks.iter_with_ids() {
        let Some(mut state) = states[id].clone() else { continue };
        for instruction in &block.instructions {
            from_callers.extend(report_releases(
                method,
                &flow,
                &paired,
                &state,
                instruction,
                findings,
            ));
            if !is_caught(method, block) {
                for (lock, offset) in &flow.thrown(&state, instruction).held {
                    leaks.insert((*lock, *offset, instruction.offset, Severity::Medium));
                }
            }
            flow.apply(&mut state, instruction);
        }
        match &block.terminator {
            Terminator::Return(_) => {
                for (lock, offset) in &state.held {
                    leaks.insert((*lock, *offset, block.end_offset, Severity::High));
                }
            }
            // What a handler throws again was thrown before, and is reported there.
            Terminator::Throw(thrown)
                if !is_caught(method, block)
                    && !matches!(method.body.definitions[*thrown], Definition::Caught(_)) =>
            {
                for (lock, offset) in &state.held {
                    leaks.insert((*lock, *offset, block.end_offset, Severity::High));
                }
            }
            _ => {}
        }
    }
    if !is_clear {
        return;
    }
    let mut seen = BTreeSet::new();
    let asked = asked_alike(method, &flow);
    leaks.retain(|it| it.3 != Severity::High || !asked.contains(&(it.0, it.1)));
    // The worst way out of the method stands for all of them.
    for severity in [Severity::High, Severity::Medium] {
        for (lock, offset, left, _) in leaks.iter().filter(|it| it.3 == severity) {
            if paired.contains(lock)
                && !from_callers.contains(lock)
                && seen.insert((*lock, *offset))
            {
                findings.push(method.finding(
                    NOT_RELEASED,
                    severity,
                    vec![("lock", method.describe(*lock))],
                    vec![("acquired", *offset), ("left", *left)],
                ));
            }
        }
    }
}

/// The acquisitions, by lock and place, that a branch decides about which asks for the same values as one that decides about a
/// release: `if (isShared) lock.lock(); … if (isShared) lock.unlock();`. Such paths hold the lock that do not release it, but
/// none of them can be taken.
fn asked_alike(
    method: &MethodFacts<'_>,
    flow: &Pairing<'_, '_>,
) -> BTreeSet<(LockExpression, u32)> {
    let dependence = ControlDependence::of(method.body);
    let asked = |block: BlockId| -> BTreeSet<ValueId> {
        let deciders = dependence.all_deciders(block);
        deciders.iter().flat_map(|branch| method.tested(*branch)).collect()
    };
    let (mut acquired, mut released) = (Vec::new(), Vec::new());
    for (block, instruction) in method.instructions() {
        for event in flow.events(instruction) {
            if let LockEvent::Acquire { lock: Some(lock), .. } = event {
                acquired.push((lock, instruction.offset, asked(block)));
            } else if let LockEvent::Release { lock: Some(lock), .. } = event {
                released.push((lock, asked(block)));
            }
        }
    }
    let is_asked = |(lock, _, values): &&(LockExpression, u32, BTreeSet<ValueId>)| {
        let is_alike = |it: &BTreeSet<ValueId>| !it.is_empty() && it.is_subset(values);
        released.iter().any(|(other, it)| other == lock && is_alike(it))
    };
    acquired.iter().filter(is_asked).map(|(lock, offset, _)| (*lock, *offset)).collect()
}

/// Reports releases that come after a branch around the acquisition, whichever way it went.
fn report_where_skipped(
    method: &MethodFacts<'_>,
    flow: &Pairing<'_, '_>,
    candidates: &BTreeSet<LockExpression>,
    findings: &mut Vec<Finding>,
) {
    let dependence = ControlDependence::of(method.body);
    for lock in candidates {
        let (mut acquired, mut released) = (Vec::new(), Vec::new());
        let mut is_plain = true;
        for (block, instruction) in method.instructions() {
            for event in flow.events(instruction) {
                match event {
                    LockEvent::Acquire { lock: Some(it), .. } if it == *lock => {
                        acquired.push((block, instruction.offset));
                    }
                    LockEvent::Release { lock: Some(it), .. } if it == *lock => {
                        released.push((block, instruction.offset));
                    }
                    LockEvent::TryAcquire { lock: Some(it), .. } if it == *lock => is_plain = false,
                    LockEvent::Acquire { .. }
                    | LockEvent::Release { .. }
                    | LockEvent::TryAcquire { .. }
                    | LockEvent::Wait { .. } => {}
                }
            }
        }
        // With several of either, other conditions may say which belong together.
        let ([(acquiring, at)], true) = (&acquired[..], is_plain) else { continue };
        let deciders = dependence.all_deciders(*acquiring);
        let without = reached_without(method.body, *acquiring);
        let lines: BTreeSet<_> =
            released.iter().map(|(_, offset)| method.site(*offset).line).collect();
        let tested: BTreeSet<ValueId> =
            deciders.iter().flat_map(|branch| method.tested(*branch)).collect();
        // The lock itself says whether the thread has it.
        let asks_lock = tested.iter().any(|value| {
            match method.body.defining_instruction(*value).map(|it| &it.operation) {
                Some(Operation::Call(call)) => {
                    let receiver = method.receiver(call);
                    receiver.and_then(|it| method.expressions.of(it)) == Some(*lock)
                }
                _ => false,
            }
        });
        if deciders.is_empty() || lines.len() != 1 || asks_lock {
            continue;
        }
        let skipped = released.iter().find(|(releasing, offset)| {
            let decide = dependence.all_deciders(*releasing);
            // The release asks as well, or comes before.
            let asks = decide.iter().any(|branch| {
                deciders.contains(branch)
                    || method.tested(*branch).iter().any(|value| tested.contains(value))
            });
            without.contains(releasing)
                && !asks
                && method.reachable_from(*acquiring).contains(releasing)
                && offset > at
        });
        if let Some((_, offset)) = skipped {
            findings.push(method.finding(
                NOT_HELD,
                Severity::Medium,
                vec![("lock", method.describe(*lock))],
                vec![("tried", *at), ("released", *offset)],
            ));
        }
    }
}

/// The blocks that control can get to from the beginning of a method without going through one, if nothing is thrown.
fn reached_without(body: &Body, without: BlockId) -> BTreeSet<BlockId> {
    let mut reached = BTreeSet::new();
    let mut todo: Vec<BlockId> = body.blocks.ids().take(1).collect();
    while let Some(block) = todo.pop() {
        if block != without && reached.insert(block) {
            todo.extend(body.blocks[block].terminator.successors());
        }
    }
    reached
}

/// The locks that are acquired and released on one path. Branches that do the one or the other, as a caller asks, are no
/// pair.
fn released_where_held(
    method: &MethodFacts<'_>,
    flow: &Pairing<'_, '_>,
    states: &TypedVec<BlockId, Option<MayHold>>,
    candidates: &BTreeSet<LockExpression>,
) -> BTreeSet<LockExpression> {
    let mut found = BTreeSet::new();
    for (id, block) in method.body.blocks.iter_with_ids() {
        let Some(mut state) = states[id].clone() else { continue };
        for instruction in &block.instructions {
            for event in flow.events(instruction) {
                let LockEvent::Release { lock: Some(lock), object: None } = event else { continue };
                let is_held = state.held.iter().any(|(held, _)| *held == lock)
                    || state.tried.iter().any(|(_, tried, _)| *tried == lock);
                if is_held && candidates.contains(&lock) {
                    found.insert(lock);
                }
            }
            flow.apply(&mut state, instruction);
        }
    }
    found
}

/// Reports a release of what is not held; gives the lock if it is that of a caller, released for a while.
fn report_releases(
    method: &MethodFacts<'_>,
    flow: &Pairing<'_, '_>,
    paired: &BTreeSet<LockExpression>,
    state: &MayHold,
    instruction: &Instruction,
    findings: &mut Vec<Finding>,
) -> Option<LockExpression> {
    let Operation::Call(call) = &instruction.operation else { return None };
    if !state.is_reached || !touches_lock(method.effects(call)) {
        return None;
    }
    for event in flow.events(instruction) {
        let LockEvent::Release { lock: Some(lock), object: None } = event else { continue };
        if !paired.contains(&lock) || state.remembered.contains(&lock) {
            continue;
        }
        let is_tried = state.tried.iter().find(|(_, tried, _)| *tried == lock);
        let failed = state.failed.iter().find(|(failed, _)| *failed == lock);
        let is_held = state.held.iter().any(|(held, _)| *held == lock);
        let steps = if let Some((_, _, attempt)) = is_tried {
            vec![("tried", *attempt), ("released", instruction.offset)]
        } else if let Some((_, attempt)) = failed {
            vec![("tried", *attempt), ("released", instruction.offset)]
        } else if !is_held {
            vec![("released", instruction.offset)]
        } else {
            continue;
        };
        // A lock that callers hold can be released here for a while, and acquired again.
        if is_tried.is_none()
            && failed.is_none()
            && is_released_for_a_while(method, flow, lock, instruction)
        {
            return Some(lock);
        }
        // Compilers copy `finally` blocks: what counts as one place is the line.
        let line = method.site(instruction.offset).line;
        let is_known = |known: &Finding| {
            known.rule == NOT_HELD
                && line.is_some()
                && known.witnesses[0].steps.last().is_some_and(|step| step.site.line == line)
        };
        if findings.iter().any(is_known) {
            continue;
        }
        findings.push(method.finding(
            NOT_HELD,
            Severity::High,
            vec![("lock", method.describe(lock))],
            steps,
        ));
    }
    None
}

/// Whether the lock is acquired again after this release.
fn is_released_for_a_while(
    method: &MethodFacts<'_>,
    flow: &Pairing<'_, '_>,
    lock: LockExpression,
    release: &Instruction,
) -> bool {
    let place = method.instructions().find(|(_, it)| it.offset == release.offset);
    let Some((block, _)) = place else { return true };
    let reachable = method.reachable_from(block);
    method.instructions().any(|(other, instruction)| {
        let is_later = (other == block && instruction.offset > release.offset) || reachable.contains(&other);
        let acquires = |event: &LockEvent| {
            matches!(event, LockEvent::Acquire { lock: Some(it), .. } | LockEvent::TryAcquire { lock: Some(it), .. } if *it == lock)
        };
        is_later && flow.events(instruction).iter().any(acquires)
    })
}

/// Whether a name means one lock throughout the method.
fn keeps_its_meaning(method: &MethodFacts<'_>, lock: &LockExpression) -> bool {
    let is_fixed = |step: &PathElement| match step {
        PathElement::Field(field) => !method.facts.guards.is_field_written(*field),
        PathElement::Element(ElementIndex::Constant(_) | ElementIndex::Parameter(_)) => true,
        PathElement::None | PathElement::View | PathElement::Element(ElementIndex::Local(_)) => {
            false
        }
        PathElement::Captured(..) => true,
    };
    let is_root_fixed = match lock.root {
        ExpressionRoot::Parameter(_) | ExpressionRoot::Class(_) => true,
        ExpressionRoot::Static(field) => !method.facts.guards.is_field_written(field),
        ExpressionRoot::Local(value) => {
            !matches!(method.body.definitions[value], Definition::Phi(_))
        }
    };
    is_root_fixed && lock.steps().iter().all(is_fixed)
}

/// Whether some handler of the block catches everything that calls throw.
fn is_caught(method: &MethodFacts<'_>, block: &Block) -> bool {
    let program = method.program();
    block.handlers.iter().any(|handler| {
        handler.catches.is_none_or(|class| {
            let name = &*program.classes[class].name;
            [language::THROWABLE, language::EXCEPTION, language::RUNTIME_EXCEPTION].contains(&name)
        })
    })
}

/// Whether a call can throw by design: code of the program that throws, or code that is not known. What the models
/// describe, and what only reads and writes fields, does not.
fn may_throw(method: &MethodFacts<'_>, call: &Call, offset: u32) -> bool {
    let program = method.program();
    if touches_lock(method.effects(call)) {
        return false;
    }
    if program.row_of(call.method).is_some() {
        let effects = method.effects(call);
        return effects
            .iter()
            .any(|effect| matches!(effect, Effect::RunsTask { .. } | Effect::Reflective));
    }
    let targets = method.facts.graph.targets(method.method, offset);
    if targets.is_empty() {
        let class = program.methods[call.method].class;
        return program.classes[class].origin == program::Origin::Application;
    }
    targets.iter().any(|target| {
        program.body(target.method).is_none_or(|body| {
            body.blocks.iter().any(|block| matches!(block.terminator, Terminator::Throw(_)))
                || body.instructions().any(|it| {
                    matches!(&it.operation, Operation::Call(call) if program.row_of(call.method).is_none())
                })
        })
    })
}
