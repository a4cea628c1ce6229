//! Rule `map-check-then-act`: a concurrent map is asked about a key and then changed at that key, in two calls; or an
//! ordinary map in a static field of a library, which whoever calls it fills together with all others.
//!
//! Misses: a check and a change in two methods, unless these do nothing else; keys that are equal and not the same value. May report a map that one
//! thread alone changes, where the call graph shows several.

use findings::{Finding, Severity};
use program::ids::{BlockId, ClassId, FieldId, ValueId};
use program::ir::{Call, Constant, ControlDependence, Instruction, Operation};
use program::models::{ClassProperty, Effect, Operand};

use super::facts::MethodFacts;
use crate::locks::expression::LockExpression;

const RULE: &str = "map-check-then-act";

struct KeyedCall {
    block: BlockId,
    offset: u32,
    map: LockExpression,
    key: ValueId,
    /// What is put there.
    value: Option<ValueId>,
    /// What the map says.
    result: Option<ValueId>,
    kind: Kind,
    /// Whether the map is not made for threads: then not only the value of the key can be lost.
    is_unguarded: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Tells what is there.
    Looks,
    /// Puts something there, whatever was there before.
    Puts,
}

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    let calls: Vec<KeyedCall> = method
        .calls()
        .filter_map(|(block, instruction, call)| keyed(method, block, instruction, call))
        .collect();
    if !calls.iter().any(|it| it.kind == Kind::Puts) || method.is_constructing() {
        return;
    }
    if method.facts.has_one_thread(method.method) {
        return;
    }
    let dependence = ControlDependence::of(method.body);
    for put in calls.iter().filter(|it| it.kind == Kind::Puts) {
        if method.is_locked(put.offset) || method.is_unshared(&put.map) {
            continue;
        }
        let looks: Vec<&KeyedCall> = calls
            .iter()
            .filter(|it| it.kind == Kind::Looks && it.map == put.map)
            .filter(|it| are_same(method, it.key, put.key))
            .collect();
        if looks.is_empty() {
            continue;
        }
        let is_look = |value: ValueId| looks.iter().any(|it| it.result == Some(value));
        let Some(value) = put.value.map(|it| method.body.without_casts(it)) else { continue };
        let update = method.calculated_from(value, &is_look).map(|(look, _)| look);
        let (look, severity) = match update.and_then(|it| method.offset_of(it)) {
            Some(look) => (look, Severity::High),
            None => {
                let decided = method.deciders(&dependence, put.block).iter().find_map(|branch| {
                    let tested = method.tested(*branch);
                    let through = |it| method.is_arithmetic(it);
                    let found =
                        tested.iter().find_map(|it| method.computed_from(*it, &is_look, &through));
                    method.offset_of(found?)
                });
                let Some(look) = decided else { continue };
                let grade = grade(method, value);
                (look, if put.is_unguarded { grade.max(Severity::Medium) } else { grade })
            }
        };
        findings.push(method.finding(
            RULE,
            severity,
            vec![("map", method.describe(put.map))],
            vec![("checked", look), ("changed", put.offset)],
        ));
    }
}

/// An object that is filled after it was put is lost with what is in it; a value that is computed from its key is only
/// computed twice.
fn grade(method: &MethodFacts<'_>, value: ValueId) -> Severity {
    let made = method.computed_from(
        value,
        &|it| {
            matches!(
                method.body.defining_instruction(it).map(|it| &it.operation),
                Some(Operation::New(_))
            )
        },
        &|it| method.is_arithmetic(it),
    );
    let class = made.and_then(|made| method.class_of(made));
    match class {
        Some(class) if holds_state(method, class) => Severity::High,
        Some(_) => Severity::Medium,
        None => Severity::Low,
    }
}

/// Whether objects of a library class are there to be filled or counted up.
fn holds_state(method: &MethodFacts<'_>, class: ClassId) -> bool {
    let is = |property| method.facts.class_is(class, property);
    let is_library = method.program().classes[class].origin != program::Origin::Application;
    is_library
        && !is(ClassProperty::Immutable)
        && (is(ClassProperty::NotThreadSafe)
            || is(ClassProperty::ThreadSafe)
            || is(ClassProperty::HoldsElements))
}

/// A call of a map with a key, or of a method that makes this call and nothing else.
fn keyed(
    method: &MethodFacts<'_>,
    block: BlockId,
    instruction: &Instruction,
    call: &Call,
) -> Option<KeyedCall> {
    let (offset, result) = (instruction.offset, instruction.result);
    if let Some(receiver) = method.receiver(call)
        && let Some(class) = method.class_of(receiver)
        && let Some((kind, is_unguarded)) = kind(method, call, class, method.field_of(receiver))
    {
        let map = method.expressions.of(receiver)?;
        let (key, value) = (*call.arguments.get(1)?, call.arguments.get(2).copied());
        return Some(KeyedCall { block, offset, map, key, value, result, kind, is_unguarded });
    }
    let made = method.delegated(call, offset)?;
    let declared = || method.program().class_of_field(made.field);
    let class = method.facts.stored_class(made.field).or_else(declared)?;
    let (kind, is_unguarded) = kind(method, made.call, class, Some(made.field))?;
    let key = made.arguments.first().copied().flatten()?;
    let value = made.arguments.get(1).copied().flatten();
    let result = result.filter(|_| made.returns_result);
    Some(KeyedCall { block, offset, map: made.receiver, key, value, result, kind, is_unguarded })
}

/// What a call does to a map of a class, and whether the map is not made for threads.
fn kind(
    method: &MethodFacts<'_>,
    call: &Call,
    class: ClassId,
    field: Option<FieldId>,
) -> Option<(Kind, bool)> {
    let program = method.program();
    let declared = &program.methods[call.method];
    let models = method.facts.models();
    let name = &program.classes[class].name;
    let own = || models.find(name, &declared.name, &declared.descriptor);
    let effects = own().map_or_else(|| method.effects(call), |row| row.effects);
    if !models.is_keyed(name, &declared.name, &declared.descriptor) {
        return None;
    }
    let is_unguarded = is_unguarded(method, field, class);
    let is_unguarded_look =
        is_unguarded && effects.contains(&Effect::Read { of: Operand::Receiver });
    let is_atomic_look = effects
        .iter()
        .any(|effect| matches!(effect, Effect::AtomicRead { of: Operand::Receiver, .. }));
    let writes = is_unguarded && effects.contains(&Effect::Write { of: Operand::Receiver });
    let updates = writes || effects.iter().any(
        |effect| matches!(effect, Effect::AtomicUpdate { of: Operand::Receiver, outcome, .. } if *outcome == program::models::Outcome::Always),
    );
    let runs_callbacks = effects.iter().any(|effect| matches!(effect, Effect::RunsTask { .. }));
    let adds = models.adds_if_absent(name, &declared.name, &declared.descriptor);
    let keeps = |number| {
        effects
            .contains(&Effect::Store { value: Operand::Argument(number), into: Operand::Receiver })
    };
    if is_atomic_look || is_unguarded_look {
        Some((Kind::Looks, is_unguarded))
    } else if updates && !runs_callbacks && !adds && keeps(0) && keeps(1) {
        Some((Kind::Puts, is_unguarded))
    } else {
        None
    }
}

/// Whether a map that is not made for threads is there for all callers of a library. What threads of the program do to one
/// is left to `data-race`.
fn is_unguarded(method: &MethodFacts<'_>, map: Option<FieldId>, class: ClassId) -> bool {
    method.facts.class_is(class, ClassProperty::NotThreadSafe)
        && map.is_some_and(|field| method.program().fields[field].is_static())
        && method.facts.threads_running(method.method).is_empty()
}

/// Whether two keys are the same value: one value, one path that does not change, or one constant; boxes count as what
/// is in them.
fn are_same(method: &MethodFacts<'_>, one: ValueId, other: ValueId) -> bool {
    let (one, other) = (unboxed(method, one), unboxed(method, other));
    if one == other {
        return true;
    }
    let paths = (method.expressions.of(one), method.expressions.of(other));
    if let (Some(one), Some(other)) = paths
        && one == other
    {
        return true;
    }
    let constant =
        |value: ValueId| match method.body.defining_instruction(value).map(|it| &it.operation) {
            Some(Operation::Constant(constant)) if *constant != Constant::Other => Some(constant),
            _ => None,
        };
    constant(one).is_some() && constant(one) == constant(other)
}

fn unboxed(method: &MethodFacts<'_>, value: ValueId) -> ValueId {
    let value = method.body.without_casts(value);
    match method.body.defining_instruction(value).map(|it| &it.operation) {
        Some(Operation::Call(call)) if call.arguments.len() == 1 => {
            let class = method.program().methods[call.method].class;
            let name = &method.program().classes[class].name;
            match method.facts.models().is(name, ClassProperty::SharedByValue) {
                true => method.body.without_casts(call.arguments[0]),
                false => value,
            }
        }
        _ => value,
    }
}
