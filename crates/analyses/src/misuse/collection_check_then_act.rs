//! Rule `collection-check-then-act`: a collection that locks itself in each call is asked and then changed because of the
//! answer, or is gone through, while no lock is held.
//!
//! Misses: calls in two methods; methods that are not seen to be run by several threads. May report a collection of
//! which every thread has its own.

use std::collections::BTreeSet;

use findings::{Finding, Severity};
use program::ids::{BlockId, FieldId, MethodId, ValueId};
use program::ir::{Call, ControlDependence, Instruction, Operation};
use program::models::{ClassProperty, ContentsAccess, Effect, Operand};
use rustc_hash::FxHashMap;

use super::facts::{MethodFacts, ProgramFacts};
use crate::locks::expression::LockExpression;

const RULE: &str = "collection-check-then-act";

struct CollectionCall<'a> {
    block: BlockId,
    instruction: &'a Instruction,
    call: &'a Call,
    collection: LockExpression,
    field: FieldId,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Tells what is there.
    Looks,
    /// Changes what is there.
    Changes,
    /// Gives an iterator.
    Iterates,
}

/// Where the threads begin that change the collection in a field.
type ChangingThreads = FxHashMap<FieldId, BTreeSet<MethodId>>;

pub(super) fn search(facts: &ProgramFacts<'_>, findings: &mut Vec<Finding>) {
    let mut using: Vec<MethodId> = Vec::new();
    let mut changing = ChangingThreads::default();
    for method in facts.methods() {
        facts.with_method(method, |method| {
            let calls = collection_calls(method);
            if calls.is_empty() || method.is_constructing() {
                return;
            }
            using.push(method.method);
            for call in calls.iter().filter(|it| it.kind == Kind::Changes) {
                let threads = changing.entry(call.field).or_default();
                threads.extend(facts.threads_running(method.method));
            }
        });
    }
    for method in using {
        facts.with_method(method, |method| in_method(method, &changing, findings));
    }
}

fn in_method(method: &MethodFacts<'_>, changing: &ChangingThreads, findings: &mut Vec<Finding>) {
    let threads = method.facts.threads_running(method.method);
    if threads.is_empty() {
        return;
    }
    let calls = collection_calls(method);
    let dependence = ControlDependence::of(method.body);
    for act in calls.iter().filter(|it| it.kind != Kind::Looks) {
        let others = changing.get(&act.field);
        let is_disturbed = others.is_some_and(|others| {
            threads.iter().any(|one| {
                others.iter().any(|other| one != other || method.facts.may_overlap(*one))
            })
        });
        if !is_disturbed
            || method.is_locked(act.instruction.offset)
            || method.is_unshared(&act.collection)
        {
            continue;
        }
        let found = match act.kind {
            Kind::Iterates => Some((act.instruction.offset, Severity::Medium)),
            Kind::Changes | Kind::Looks => checked(method, &calls, act, &dependence),
        };
        let Some((look, severity)) = found else { continue };
        findings.push(method.finding(
            RULE,
            severity,
            vec![("collection", method.describe(act.collection))],
            vec![("checked", look), ("changed", act.instruction.offset)],
        ));
    }
}

/// The look that a change depends on, and how much that matters.
fn checked(
    method: &MethodFacts<'_>,
    calls: &[CollectionCall<'_>],
    act: &CollectionCall<'_>,
    dependence: &ControlDependence,
) -> Option<(u32, Severity)> {
    let is_look = |value: ValueId| {
        calls.iter().any(|it| {
            it.kind == Kind::Looks
                && it.collection == act.collection
                && it.instruction.result == Some(value)
        })
    };
    let through = |it| method.is_arithmetic(it);
    let arguments = act.call.arguments.iter().skip(1);
    let computed = arguments
        .into_iter()
        .find_map(|argument| method.calculated_from(*argument, &is_look).map(|(look, _)| look));
    if let Some(look) = computed.and_then(|it| method.offset_of(it)) {
        return Some((look, Severity::High));
    }
    let decided = method.deciders(dependence, act.block).iter().find_map(|branch| {
        let tested = method.tested(*branch);
        tested.iter().find_map(|it| method.computed_from(*it, &is_look, &through))
    })?;
    let keeps = method
        .effects_on(act.call)
        .iter()
        .any(|effect| matches!(effect, Effect::Store { into: Operand::Receiver, .. }));
    let severity = if keeps { Severity::Medium } else { Severity::High };
    Some((method.offset_of(decided)?, severity))
}

/// The calls on collections that lock themselves, where fields keep these.
fn collection_calls<'a>(method: &MethodFacts<'a>) -> Vec<CollectionCall<'a>> {
    method
        .calls()
        .filter_map(|(block, instruction, call)| {
            let on = method.body.without_casts(method.receiver(call)?);
            let receiver = viewed(method, on);
            let field = method.field_of(receiver)?;
            let class = method.class_of(receiver)?;
            let is = |property| method.facts.class_is(class, property);
            if !is(ClassProperty::ThreadSafe) || !is(ClassProperty::OftenConfined) {
                return None;
            }
            let program = method.program();
            let declared = &program.methods[call.method];
            let name = &program.classes[class].name;
            let effects = method.effects_on(call);
            let is_view = effects.contains(&Effect::View { of: Operand::Receiver });
            let models = method.facts.models();
            let returned = declared.descriptor.rsplit(')').next();
            let returned = returned.and_then(|it| program.class_of_descriptor(it));
            let is_cursor = returned.is_some_and(|class| {
                models.is(&program.classes[class].name, ClassProperty::Cursor)
            });
            let kind = match models.contents_access(name, &declared.name, effects) {
                _ if is_view && is_cursor => Kind::Iterates,
                _ if receiver != on => return None,
                Some(ContentsAccess::Looks) => Kind::Looks,
                Some(ContentsAccess::Changes | ContentsAccess::Takes) => Kind::Changes,
                None => return None,
            };
            let collection = method.expressions.of(receiver)?;
            Some(CollectionCall { block, instruction, call, collection, field, kind })
        })
        .collect()
}

/// The collection that a value is a view of, such as the keys of a map: it has the same lock. Otherwise the value.
fn viewed(method: &MethodFacts<'_>, value: ValueId) -> ValueId {
    match method.body.defining_instruction(value).map(|it| &it.operation) {
        Some(Operation::Call(call))
            if method.effects_on(call).contains(&Effect::View { of: Operand::Receiver }) =>
        {
            method.receiver(call).map_or(value, |of| method.body.without_casts(of))
        }
        _ => value,
    }
}
