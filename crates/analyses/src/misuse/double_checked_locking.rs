//! Rule `double-checked-locking`: a field is tested without a lock, and assigned under a lock if the test says so, in one
//! of the forms that do not work:
//! - the field is not volatile, so that a thread which finds it set may see an object that is not finished;
//! - it is not tested again under the lock, so that two threads assign it;
//! - it is assigned before the object is finished, and what finishes it comes after.
//!
//! Misses: tests and assignments in different methods, but for getters. A field that holds a number of 32 bits, or an object of a class
//! that never changes, needs no volatile.

use std::collections::BTreeSet;

use findings::{Finding, Severity};
use program::Origin;
use program::callgraph::Target;
use program::ids::{BlockId, FieldId, ValueId};
use program::ir::{Constant, ControlDependence, Instruction, Operation, Terminator};
use program::models::ClassProperty;

use super::facts::MethodFacts;
use crate::locks::expression::LockExpression;

const RULE: &str = "double-checked-locking";

struct Assignment<'a> {
    block: BlockId,
    instruction: &'a Instruction,
    field: FieldId,
    path: LockExpression,
    value: ValueId,
}

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    if method.is_constructing() || method.facts.has_one_thread(method.method) {
        return;
    }
    let assignments: Vec<Assignment<'_>> = method
        .instructions()
        .filter_map(|(block, instruction)| {
            let (path, field, value) = match &instruction.operation {
                Operation::PutField { object, field, value } => {
                    (method.field_path(Some(*object), *field)?, *field, *value)
                }
                Operation::PutStatic { field, value } => {
                    (method.field_path(None, *field)?, *field, *value)
                }
                _ => return None,
            };
            let is_inside = !method.held(instruction.offset).is_empty()
                && method.facts.guards.held_at_entry(method.method).is_empty();
            let is_constant = matches!(
                method.body.defining_instruction(value).map(|it| &it.operation),
                Some(Operation::Constant(_))
            );
            (is_inside && !is_constant && !method.is_unshared(&path)).then_some(Assignment {
                block,
                instruction,
                field,
                path,
                value,
            })
        })
        .collect();
    if assignments.is_empty() {
        return;
    }
    let dependence = ControlDependence::of(method.body);
    for assignment in &assignments {
        judge(method, &dependence, assignment, findings);
    }
}

fn judge(
    method: &MethodFacts<'_>,
    dependence: &ControlDependence,
    assignment: &Assignment<'_>,
    findings: &mut Vec<Finding>,
) {
    let (mut outside, mut inside) = (BTreeSet::new(), BTreeSet::new());
    for branch in dependence.all_deciders(assignment.block) {
        let Terminator::Branch { left, right: None, .. } = &method.body.blocks[branch].terminator
        else {
            continue;
        };
        for read in reads_behind(method, *left, assignment.path) {
            match method.held(read).is_empty() {
                true => outside.insert(read),
                false => inside.insert(read),
            };
        }
    }
    let Some(first) = outside.first().copied() else { return };
    let describe = || vec![("variable", method.describe(assignment.path))];
    let written = assignment.instruction.offset;
    let offer = |severity, second: Option<u32>| {
        let mut steps = vec![("tested", first)];
        steps.extend(second.map(|it| ("again", it)));
        steps.push(("assigned", written));
        method.finding(RULE, severity, describe(), steps)
    };
    let is_atomic_type = is_atomic(method, assignment.field);
    match inside.first().copied() {
        // Two threads make two objects; of an object that nobody changes either will do.
        None => {
            if made_by_new(method, assignment.value) {
                let severity = if is_atomic_type { Severity::Low } else { Severity::Medium };
                findings.push(offer(severity, None));
            }
        }
        Some(second) if !method.facts.is_volatile(assignment.field) => {
            let severity = match is_atomic_type {
                true => return,
                false if is_finished(method, assignment.value) => Severity::Low,
                false => Severity::High,
            };
            findings.push(offer(severity, Some(second)));
        }
        Some(second) => {
            if is_changed_later(method, assignment) {
                findings.push(offer(Severity::Medium, Some(second)));
            }
        }
    }
}

/// Where a tested value was read from this variable: itself, or through the local variables that join paths.
fn reads_behind(method: &MethodFacts<'_>, value: ValueId, path: LockExpression) -> Vec<u32> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        let value = method.body.without_casts(value);
        if !seen.insert(value) {
            continue;
        }
        match method.body.defining_instruction(value) {
            Some(defined) if is_read(method, defined) => {
                if method.expressions.of(value) == Some(path) {
                    found.push(defined.offset);
                }
            }
            Some(_) => {}
            None => todo.extend(method.operands(value)),
        }
    }
    found
}

/// Whether an instruction reads a field, or calls a method that takes no lock; what that reads is known by its path.
fn is_read(method: &MethodFacts<'_>, instruction: &Instruction) -> bool {
    match &instruction.operation {
        Operation::GetField { .. } | Operation::GetStatic(_) => true,
        Operation::Call(_) => {
            let targets = method.facts.graph.targets(method.method, instruction.offset);
            let takes_no_lock = |target: &Target| {
                let body = method.program().body(target.method);
                !method.program().methods[target.method].is_synchronized()
                    && body.is_some_and(|body| {
                        body.instructions().all(|it| {
                            !matches!(it.operation, Operation::MonitorEnter(_) | Operation::Call(_))
                        })
                    })
            };
            matches!(targets, [only] if takes_no_lock(only))
        }
        _ => false,
    }
}

/// Whether a field holds something that no thread can see half of: a number of 32 bits or less.
fn is_atomic(method: &MethodFacts<'_>, field: FieldId) -> bool {
    let descriptor = &method.program().fields[field].descriptor;
    !descriptor.starts_with(['L', '[', 'J', 'D'])
}

/// Whether an object is safe to find in a plain field: its class never changes its objects, as the models say, or has
/// final fields only.
fn is_finished(method: &MethodFacts<'_>, value: ValueId) -> bool {
    let Some(class) = method.class_of(method.body.without_casts(value)) else { return false };
    if method.facts.class_is(class, ClassProperty::Immutable) {
        return true;
    }
    let program = method.program();
    let mut classes = program.hierarchy.superclasses(class);
    let is_made_here = made_by_new(method, value);
    let all_final = classes.all(|class| {
        let declared = &program.classes[class];
        let fields = declared.fields.iter().map(|it| &program.fields[*it]);
        let is_root = declared.superclass.is_none();
        (declared.origin == Origin::Application || is_root)
            && fields.into_iter().all(|field| field.is_static() || field.is_final())
    });
    is_made_here && all_final
}

fn made_by_new(method: &MethodFacts<'_>, value: ValueId) -> bool {
    let value = method.body.without_casts(value);
    let defined = method.body.defining_instruction(value).map(|it| &it.operation);
    !matches!(defined, Some(Operation::Constant(Constant::Literal(_))) | None)
        && matches!(defined, Some(Operation::New(_)))
}

/// Whether the object is still set up after it was assigned: a field of it is written, or it is filled, while the lock
/// is held.
fn is_changed_later(method: &MethodFacts<'_>, assignment: &Assignment<'_>) -> bool {
    let place = (assignment.block, assignment.instruction.offset);
    let reachable = method.reachable_from(assignment.block);
    let is_it = |value: ValueId| {
        let value = method.body.without_casts(value);
        value == method.body.without_casts(assignment.value)
            || method.expressions.of(value) == Some(assignment.path)
    };
    method.instructions().any(|(block, instruction)| {
        let is_later = method.may_precede(place, (block, instruction.offset), &reachable)
            && !method.held(instruction.offset).is_empty();
        is_later
            && match &instruction.operation {
                Operation::PutField { object, .. } => is_it(*object),
                Operation::Call(call) => {
                    let access =
                        crate::stale_value::domain::contents_access(method.program(), call.method);
                    matches!(
                        access,
                        Some(
                            program::models::ContentsAccess::Changes
                                | program::models::ContentsAccess::Takes
                        )
                    ) && call.arguments.first().is_some_and(|it| is_it(*it))
                        && !is_safe_class(method, assignment.value)
                }
                _ => false,
            }
    })
}

fn is_safe_class(method: &MethodFacts<'_>, value: ValueId) -> bool {
    let class = method.class_of(method.body.without_casts(value));
    class.is_some_and(|class| method.facts.class_is(class, ClassProperty::ThreadSafe))
}
