//! Rule `thread-local-leak`: a thread of a pool or a server stores something in a `ThreadLocal` that the program never
//! removes, so that the next task of that thread finds it.
//!
//! A variable that is only removed by the method which stores it must be removed on every path of that.
//!
//! Misses: variables that are removed elsewhere, but not always, and where something is thrown; values that initialisers
//! make. May report a
//! variable that every task sets before it reads it.

use std::collections::BTreeMap;

use findings::{Finding, Severity};
use program::Program;
use program::ids::{BlockId, FieldId, MethodId, ValueId};
use program::ir::{Call, ControlDependence, Operation, Terminator};
use program::models::{Effect, EntryThread, Operand};
use program::threads::RootKind;
use rustc_hash::FxHashSet;

use super::facts::{MethodFacts, ProgramFacts, is_null};

const RULE: &str = "thread-local-leak";

/// Where something happens to variables.
type Places = BTreeMap<FieldId, Vec<Place>>;

type Place = (MethodId, BlockId, u32);

pub(super) fn search(facts: &ProgramFacts<'_>, findings: &mut Vec<Finding>) {
    let (mut stored, mut removed) = (Places::new(), Places::new());
    for method in facts.methods() {
        facts.with_method(method, |method| collect(method, &mut stored, &mut removed));
    }
    for (field, places) in &mut stored {
        if let Some(removals) = removed.get(field) {
            places.retain(|stored| is_left(facts.program, *stored, removals));
        }
    }
    stored.retain(|_, places| !places.is_empty());
    if stored.is_empty() {
        return;
    }
    let pooled = executed_by_pools(facts);
    for (field, places) in stored {
        let Some((method, _, offset)) = places.into_iter().find(|it| pooled.contains(&it.0)) else {
            continue;
        };
        facts.with_method(method, |method| {
            findings.push(method.finding(
                RULE,
                Severity::Medium,
                vec![("variable", facts.field_name(field).into())],
                vec![("stored", offset)],
            ));
        });
    }
}

/// Whether a method stores something and can return without removing it, and nobody else removes it.
fn is_left(program: &Program, (method, block, offset): Place, removals: &[Place]) -> bool {
    let Some(body) = program.body(method) else { return false };
    if removals.iter().any(|(its, ..)| *its != method) {
        return false;
    }
    let removes =
        |block: BlockId, after: u32| removals.iter().any(|(_, at, it)| *at == block && *it > after);
    if removes(block, offset) {
        return false;
    }
    let mut seen = FxHashSet::default();
    let mut todo = vec![block];
    while let Some(block) = todo.pop() {
        let terminator = &body.blocks[block].terminator;
        if matches!(terminator, Terminator::Return(_)) {
            return true;
        }
        for next in terminator.successors() {
            if !removes(next, 0) && seen.insert(next) {
                todo.push(next);
            }
        }
    }
    false
}

fn collect(method: &MethodFacts<'_>, stored: &mut Places, removed: &mut Places) {
    let dependence = ControlDependence::of(method.body);
    for (block, instruction, call) in method.calls() {
        let effects = method.effects(call);
        let is_local =
            |effect: &Effect| matches!(effect, Effect::ThreadLocalAccess { of: Operand::Receiver });
        if !effects.iter().any(is_local) {
            continue;
        }
        let receiver = method.receiver(call);
        let Some(field) = receiver.and_then(|it| method.field_of(it)) else { continue };
        let stores = effects.iter().any(|effect| matches!(effect, Effect::Store { .. }));
        let gives = effects.iter().any(|effect| matches!(effect, Effect::Load { .. }));
        let is_reset = call.arguments.get(1).is_some_and(|it| is_null(method.body, *it))
            || is_constant(method, call)
            || is_put_back(method, call, field);
        match (stores, gives) {
            (true, _) if !is_reset && is_made_when_missing(method, &dependence, block, field) => {}
            (true, _) if !is_reset => {
                let place = (method.method, block, instruction.offset);
                stored.entry(field).or_default().push(place);
            }
            (true, _) | (false, false) => {
                let place = (method.method, block, instruction.offset);
                removed.entry(field).or_default().push(place);
            }
            (false, true) => {}
        }
    }
}

/// Whether what is stored was there before.
fn is_put_back(method: &MethodFacts<'_>, call: &Call, field: FieldId) -> bool {
    let Some(value) = call.arguments.get(1) else { return false };
    let is_it =
        |value: ValueId| match method.body.defining_instruction(value).map(|it| &it.operation) {
            Some(Operation::Call(call)) => {
                let receiver = call.arguments.first();
                receiver.and_then(|it| method.field_of(*it)) == Some(field)
            }
            _ => false,
        };
    method.computed_from(*value, &is_it, &|it| method.is_arithmetic(it)).is_some()
}

/// Whether a constant or a flag is stored: one of these values means that there is nothing.
fn is_constant(method: &MethodFacts<'_>, call: &Call) -> bool {
    let Some(value) = call.arguments.get(1) else { return false };
    let is_it =
        |value: ValueId| match method.body.defining_instruction(value).map(|it| &it.operation) {
            Some(Operation::Constant(_)) => true,
            Some(Operation::GetStatic(field)) => method.program().fields[*field].is_final(),
            _ => false,
        };
    method.computed_from(*value, &is_it, &|it| method.is_arithmetic(it)).is_some()
}

/// Whether a value is stored because there was none: a cache for each thread, which is meant to stay.
fn is_made_when_missing(
    method: &MethodFacts<'_>,
    dependence: &ControlDependence,
    block: BlockId,
    field: FieldId,
) -> bool {
    let is_asked = |value: ValueId| {
        let value = method.body.without_casts(value);
        match method.body.defining_instruction(value).map(|it| &it.operation) {
            Some(Operation::Call(call)) => {
                let receiver = call.arguments.first();
                receiver.and_then(|it| method.field_of(*it)) == Some(field)
            }
            _ => false,
        }
    };
    let deciders = dependence.deciders(block).iter();
    deciders.into_iter().any(|branch| method.tested(*branch).iter().any(|it| is_asked(*it)))
}

/// The methods that threads execute which go on to serve others.
fn executed_by_pools(facts: &ProgramFacts<'_>) -> FxHashSet<MethodId> {
    let is_pool = |kind: &RootKind| match kind {
        RootKind::Submitted | RootKind::ParallelStream => true,
        RootKind::Entry(thread) => match thread {
            EntryThread::Pool | EntryThread::Request | EntryThread::Coroutine => true,
            EntryThread::Main
            | EntryThread::Own
            | EntryThread::EventDispatch
            | EntryThread::Timer
            | EntryThread::Test
            | EntryThread::Container
            | EntryThread::System
            | EntryThread::ClassInitialization => false,
        },
        RootKind::Started | RootKind::Named => false,
    };
    let mut executed = FxHashSet::default();
    let roots = facts.roots.iter().filter(|(_, (kind, _))| is_pool(kind));
    let mut todo: Vec<MethodId> = roots.map(|(method, _)| *method).collect();
    while let Some(method) = todo.pop() {
        if executed.insert(method) {
            todo.extend(facts.graph.callees(method));
        }
    }
    executed
}
