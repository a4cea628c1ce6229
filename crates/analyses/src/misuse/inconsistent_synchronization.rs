//! Rule `inconsistent-synchronization`: most accesses to a field hold a lock of its object, and some hold none.
//!
//! The guard of a field is the relation of locks to it that most accesses after construction have (as `stale-value`
//! infers guards, from reads too). Misses: fields that are mostly accessed without a lock; collections behind fields.
//! May report an access that something else orders: a thread that was started afterwards, a barrier.

use std::collections::BTreeMap;

use classes::access;
use findings::{Finding, Severity, Step};
use program::ids::{FieldId, MethodId};
use program::ir::Operation;

use super::facts::{MethodFacts, ProgramFacts, finding_at};
use crate::locks::expression::{ExpressionRoot, LockExpression};
use crate::locks::{OptimisticReads, is_new};
use crate::stale_value::domain::{GuardRelation, Variable, read_by, written_by};

const RULE: &str = "inconsistent-synchronization";

/// At least this many accesses must hold the lock: fewer may be an accident.
const FEWEST_LOCKED: usize = 3;

/// For each access without the lock there must be so many with it.
const LOCKED_FOR_EACH_UNLOCKED: usize = 2;

/// With so many accesses under the lock for each other one, the other one is an oversight.
const RARE: usize = 5;

struct Access {
    method: MethodId,
    offset: u32,
    guards: Vec<GuardRelation>,
    is_write: bool,
    is_free: bool,
}

pub(super) fn search(facts: &ProgramFacts<'_>, findings: &mut Vec<Finding>) {
    let mut accesses: BTreeMap<FieldId, Vec<Access>> = BTreeMap::new();
    for method in facts.methods() {
        facts.with_method(method, |method| collect(method, &mut accesses));
    }
    for (field, accesses) in accesses {
        judge(facts, field, &accesses, findings);
    }
}

/// Whether a path starts at an object that this method makes.
fn is_made_here(method: &MethodFacts<'_>, path: &LockExpression) -> bool {
    matches!(path.root, ExpressionRoot::Local(object) if is_new(method.body, object))
}

/// Whether a method makes an object out of a stream: nobody else knows the object yet.
fn is_deserializing(method: &MethodFacts<'_>) -> bool {
    let name = &*method.program().methods[method.method].name;
    ["readObject", "readObjectNoData", "readExternal", "readResolve"].contains(&name)
}

fn collect(method: &MethodFacts<'_>, accesses: &mut BTreeMap<FieldId, Vec<Access>>) {
    if method.is_constructing() || is_deserializing(method) {
        return;
    }
    let optimistic = OptimisticReads::of(method.program(), method.body);
    for (_, instruction) in method.instructions() {
        if optimistic.lock_at(instruction.offset).is_some() {
            continue;
        }
        let (is_write, variable) = match &instruction.operation {
            Operation::GetField { .. } | Operation::GetStatic(_) => {
                (false, read_by(&method.expressions, instruction))
            }
            Operation::PutField { .. } | Operation::PutStatic { .. } => {
                (true, written_by(&method.expressions, instruction))
            }
            _ => continue,
        };
        let Some(Variable { field: Some(field), path: Some(path), .. }) = variable else {
            continue;
        };
        let declared = &method.program().fields[field];
        if declared.access & (access::FINAL | access::VOLATILE | access::SYNTHETIC) != 0
            || method.is_unshared(&path)
            || is_made_here(method, &path)
        {
            continue;
        }
        let Some(variable) = variable else { continue };
        let held = method.held(instruction.offset);
        let guards = held.iter().map(|lock| GuardRelation::of(&variable, *lock)).collect();
        let is_free = !method.is_locked(instruction.offset);
        accesses.entry(field).or_default().push(Access {
            method: method.method,
            offset: instruction.offset,
            guards,
            is_write,
            is_free,
        });
    }
}

fn judge(
    facts: &ProgramFacts<'_>,
    field: FieldId,
    accesses: &[Access],
    findings: &mut Vec<Finding>,
) {
    let mut counts: BTreeMap<GuardRelation, usize> = BTreeMap::new();
    for access in accesses {
        for guard in access.guards.iter().filter(|it| **it != GuardRelation::Unknown) {
            *counts.entry(*guard).or_default() += 1;
        }
    }
    let Some((guard, locked)) =
        counts.into_iter().max_by_key(|(guard, count)| (*count, std::cmp::Reverse(*guard)))
    else {
        return;
    };
    let holds = |access: &&Access| access.guards.contains(&guard);
    let free: Vec<&Access> =
        accesses.iter().filter(|it| it.is_free && !facts.has_one_thread(it.method)).collect();
    let others = accesses.len() - locked - free.len();
    let writes_locked = accesses.iter().filter(holds).any(|it| it.is_write);
    // A lock that only ever surrounds reads guards something else.
    if free.is_empty()
        || locked < FEWEST_LOCKED
        || locked < LOCKED_FOR_EACH_UNLOCKED * (free.len() + others)
        || !(writes_locked)
    {
        return;
    }
    let methods: std::collections::BTreeSet<MethodId> =
        accesses.iter().filter(holds).map(|it| it.method).collect();
    if methods.len() < 2 {
        return;
    }
    let Some(example) = accesses.iter().filter(holds).find(|it| it.is_write) else { return };
    let Some(worst) = free.iter().find(|it| it.is_write).or_else(|| free.first()) else { return };
    let is_rare = locked >= RARE * (free.len() + others);
    let severity = grade(facts, field, worst, is_rare);
    let name = facts.field_name(field);
    let steps = vec![
        Step::at("locked", facts.program.site(example.method, example.offset)),
        Step::at("unlocked", facts.program.site(worst.method, worst.offset)),
    ];
    let share = format!("{locked} of {}", locked + free.len() + others);
    findings.push(finding_at(
        RULE,
        severity,
        facts.program.site(worst.method, 0),
        vec![("variable", name.into()), ("share", share.into())],
        steps,
    ));
}

/// A write that holds no lock destroys what the lock protects, if it is the exception; a read may miss the latest value.
fn grade(facts: &ProgramFacts<'_>, field: FieldId, access: &Access, is_rare: bool) -> Severity {
    let name = &*facts.program.methods[access.method].name;
    let is_one_way = facts.guards.is_one_way(field);
    let is_for_people = ["toString", "hashCode", "equals"].iter().any(|it| name.starts_with(it));
    if is_for_people || is_one_way {
        return Severity::Low;
    }
    if access.is_write && is_rare { Severity::High } else { Severity::Medium }
}
