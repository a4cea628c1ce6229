//! Rules `blocking-under-lock` and `callback-under-lock`.
//!
//! `blocking-under-lock`: a thread sleeps, waits for another thread to end or for a result, or waits for input, while
//! it holds a lock; directly or in a method that it calls. Waiting for a lock is the business of the deadlock rules,
//! waiting for a notification that of `critical-wait`.
//! `callback-under-lock`: code that somebody else handed in is called while a lock is held.
//!
//! Misses: blocking deeper than [`MOST_CALLS`] calls, or behind calls with several targets; callbacks in other forms than
//! the interfaces that the models know.

use std::collections::BTreeSet;

use classes::bytecode::InvokeKind;
use findings::{Finding, Severity, Step};
use program::Origin;
use program::ids::{MethodId, ValueId};
use program::ir::{Call, Definition, Operation};
use program::models::{ClassProperty, Effect, MethodProperty};

use super::facts::{MethodFacts, ProgramFacts, finding_at};
use crate::locks::touches_lock;

const BLOCKING: &str = "blocking-under-lock";
const CALLBACK: &str = "callback-under-lock";

/// Calls that are followed to find what blocks.
const MOST_CALLS: usize = 3;

/// How a call keeps the locks of its caller for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocking {
    Sleep,
    Join,
    Other,
}

impl Blocking {
    fn words(self) -> &'static str {
        match self {
            Blocking::Sleep => "sleeps",
            Blocking::Join => "waits for another thread",
            Blocking::Other => "blocks",
        }
    }
}

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for (_, instruction, call) in method.calls() {
        // Locks of all callers are reported where they are acquired.
        let held = method.held(instruction.offset);
        let inherited = method.facts.guards.held_at_entry(method.method);
        let own = held.iter().rfind(|lock| lock.is_none_or(|lock| !inherited.contains(&lock)));
        let Some(lock) = own else { continue };
        let lock_name = match lock {
            Some(lock) => method.describe(*lock),
            None => "a lock".to_string().into(),
        };
        let mut chain = Vec::new();
        let found = blocking(method.effects(call)).or_else(|| {
            let [target] = method.facts.graph.targets(method.method, instruction.offset) else {
                return None;
            };
            blocking_in(method.facts, target.method, MOST_CALLS, &mut chain)
        });
        if let Some(kind) = found {
            // What calls lead to may depend on conditions that do not hold here.
            let severity = match kind {
                Blocking::Sleep | Blocking::Join if chain.is_empty() => Severity::Medium,
                Blocking::Sleep | Blocking::Join | Blocking::Other => Severity::Low,
            };
            if !seen.insert((lock_name.stable.clone(), kind.words(), severity)) {
                continue;
            }
            let sites = chain
                .iter()
                .rev()
                .map(|(callee, offset)| method.facts.program.site(*callee, *offset));
            let step = Step {
                call_chain: sites.collect(),
                ..Step::at("blocks", method.site(instruction.offset))
            };
            findings.push(finding_at(
                BLOCKING,
                severity,
                method.site(0),
                vec![("lock", lock_name.clone()), ("what", kind.words().to_string().into())],
                vec![step],
            ));
        }
        if is_foreign(method, call, instruction.offset) {
            let name = method.program().methods[call.method].name.to_string();
            let receiver = call.arguments.first().map(|it| method.name_of(*it));
            let Some(receiver) = receiver else { continue };
            let mut callback = receiver;
            callback.text = format!("{}.{name}", callback.text);
            callback.stable = format!("{}.{name}", callback.stable);
            findings.push(method.finding(
                CALLBACK,
                Severity::Low,
                vec![("lock", lock_name), ("callback", callback)],
                vec![("called", instruction.offset)],
            ));
        }
    }
}

fn blocking(effects: &[Effect]) -> Option<Blocking> {
    // Waiting gives a lock back.
    if touches_lock(effects) {
        return None;
    }
    let is = |wanted: fn(&Effect) -> bool| effects.iter().any(wanted);
    if is(|effect| matches!(effect, Effect::Sleeps)) {
        return Some(Blocking::Sleep);
    }
    let waits = is(|effect| matches!(effect, Effect::Blocks { timed: false, .. }));
    if waits && is(|effect| matches!(effect, Effect::Join { timed: false, .. })) {
        return Some(Blocking::Join);
    }
    waits.then_some(Blocking::Other)
}

/// How a method of the program blocks, wherever its control goes first; the calls that lead there, innermost first.
fn blocking_in(
    facts: &ProgramFacts<'_>,
    method: MethodId,
    calls: usize,
    chain: &mut Vec<(MethodId, u32)>,
) -> Option<Blocking> {
    let program = facts.program;
    if calls == 0 || !program.is_application(method) {
        return None;
    }
    let body = program.body(method)?;
    body.instructions().find_map(|instruction| {
        let Operation::Call(call) = &instruction.operation else { return None };
        let effects = program.effects_of(call.method);
        let found = blocking(effects).filter(|kind| *kind != Blocking::Other).or_else(|| {
            let [target] = facts.graph.targets(method, instruction.offset) else { return None };
            blocking_in(facts, target.method, calls - 1, chain)
        })?;
        chain.push((method, instruction.offset));
        Some(found)
    })
}

/// Whether a call runs code that somebody outside this class has handed in: the receiver is a field or a parameter of a
/// type that the models know for a callback or a task, or comes out of a collection.
fn is_foreign(method: &MethodFacts<'_>, call: &Call, offset: u32) -> bool {
    let program = method.program();
    let declared = &program.methods[call.method];
    let class = &program.classes[declared.class];
    if call.kind != InvokeKind::Interface || class.origin == Origin::Application {
        return false;
    }
    let properties =
        method.facts.models().method_properties(&class.name, &declared.name, &declared.descriptor);
    let mut properties = properties.into_iter();
    if !properties.any(|it| matches!(it, MethodProperty::Task | MethodProperty::Callback)) {
        return false;
    }
    let Some(receiver) = call.arguments.first() else { return false };
    comes_from_outside(method, *receiver)
        && method.facts.graph.targets(method.method, offset).len() != 1
}

fn comes_from_outside(method: &MethodFacts<'_>, value: ValueId) -> bool {
    let value = method.body.without_casts(value);
    match method.body.definitions[value] {
        Definition::Parameter(number) => {
            let declared = &method.program().methods[method.method];
            !declared.is_private() && (number > 0 || declared.is_static())
        }
        Definition::Instruction(..) => {
            match method.body.defining_instruction(value).map(|it| &it.operation) {
                Some(Operation::GetField { field, .. } | Operation::GetStatic(field)) => {
                    method.facts.stored_class(*field).is_none()
                }
                Some(Operation::Call(call)) => {
                    let class = method.program().methods[call.method].class;
                    method.effects(call).iter().any(|it| matches!(it, Effect::Load { .. }))
                        || method.facts.class_is(class, ClassProperty::Cursor)
                }
                _ => false,
            }
        }
        Definition::Phi(_) | Definition::Caught(_) | Definition::Removed => false,
    }
}
