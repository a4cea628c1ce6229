//! Rules about the object that is chosen as a lock: `lock-on-changing-field`, `lock-on-shared-value`,
//! `lock-on-get-class` and `lock-on-wrong-object`.
//!
//! - `lock-on-changing-field`: the lock is what a field refers to, and the field is assigned after construction.
//! - `lock-on-shared-value`: the lock is a string or a box, which unrelated code may have too.
//! - `lock-on-get-class`: the lock is `getClass()`, which is another one in a subclass.
//! - `lock-on-wrong-object`: a variable of all objects is written under the lock of one object; or a task writes a
//!   variable of the object that made it under the lock of the task itself.
//!
//! Misses: locks that come out of collections or methods without a name.

use classes::access;
use findings::{Finding, Severity};
use program::ids::{FieldId, ValueId};
use program::ir::{Constant, Operation};
use program::models::{ClassProperty, language};

use super::facts::{MethodFacts, Named};
use crate::locks::expression::{ExpressionRoot, LockExpression, PathElement};
use crate::locks::{LockEvent, lock_events};

const CHANGING: &str = "lock-on-changing-field";
const SHARED: &str = "lock-on-shared-value";
const GET_CLASS: &str = "lock-on-get-class";
const WRONG: &str = "lock-on-wrong-object";

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    for (_, instruction) in method.instructions() {
        match &instruction.operation {
            Operation::MonitorEnter(object) => {
                let object = method.body.without_casts(*object);
                changing_field(method, object, instruction.offset, findings);
                shared_value(method, object, instruction.offset, findings);
                get_class(method, object, instruction.offset, findings);
            }
            Operation::PutField { object, field, .. } => {
                wrong_this(method, *object, *field, instruction.offset, findings);
            }
            Operation::PutStatic { field, .. } => {
                static_field(method, *field, instruction.offset, findings);
            }
            Operation::Call(call) => {
                let acquires = |event: &LockEvent| matches!(event, LockEvent::Acquire { .. });
                let events = lock_events(method.program(), &method.expressions, instruction);
                if let (true, Some(receiver)) = (events.iter().any(acquires), method.receiver(call))
                {
                    let receiver = method.body.without_casts(receiver);
                    changing_field(method, receiver, instruction.offset, findings);
                }
            }
            _ => {}
        }
    }
}

fn changing_field(
    method: &MethodFacts<'_>,
    object: ValueId,
    offset: u32,
    findings: &mut Vec<Finding>,
) {
    let Some(field) = method.field_of(object) else { return };
    let declared = &method.program().fields[field];
    if declared.is_final() || !method.facts.guards.is_field_written(field) {
        return;
    }
    let Some(path) = method.expressions.of(object) else { return };
    // An object that is made for one call and nobody else knows has no lock to speak of.
    if method.is_unshared(&path) || method.facts.has_one_thread(method.method) {
        return;
    }
    // Under an outer lock the field does not change while the inner one is acquired.
    if method.is_locked(offset) {
        return;
    }
    let is_one_way = method.facts.guards.is_one_way(field);
    let replaced = replaced_under_itself(method, field);
    let severity = match (is_one_way, replaced) {
        (true, _) => Severity::Low,
        (false, Some(_)) => Severity::High,
        (false, None) => Severity::Medium,
    };
    let mut steps = vec![("acquired", offset)];
    steps.extend(replaced.map(|at| ("assigned", at)));
    findings.push(method.finding(CHANGING, severity, vec![("lock", method.describe(path))], steps));
}

/// Where this very method assigns the field while it holds the lock that was in it.
fn replaced_under_itself(method: &MethodFacts<'_>, field: FieldId) -> Option<u32> {
    method.instructions().find_map(|(_, instruction)| {
        let (path, value) = match &instruction.operation {
            Operation::PutField { object, field: written, value } if *written == field => {
                (method.field_path(Some(*object), field)?, *value)
            }
            Operation::PutStatic { field: written, value } if *written == field => {
                (method.field_path(None, field)?, *value)
            }
            _ => return None,
        };
        let is_held = method.held(instruction.offset).contains(&Some(path));
        (is_held && !super::facts::is_null(method.body, value)).then_some(instruction.offset)
    })
}

fn shared_value(
    method: &MethodFacts<'_>,
    object: ValueId,
    offset: u32,
    findings: &mut Vec<Finding>,
) {
    let Some(class) = method.class_of(object) else { return };
    let name = &method.program().classes[class].name;
    if !method.facts.models().is(name, ClassProperty::SharedByValue) {
        return;
    }
    let defined = method.body.defining_instruction(object).map(|it| &it.operation);
    // A new object is nobody else's, whatever its value.
    let is_new = matches!(defined, Some(Operation::New(_)))
        || method.field_of(object).is_some_and(|field| method.facts.stored_class(field).is_some());
    if is_new {
        return;
    }
    let is_box = &**name != language::STRING;
    let is_literal = matches!(defined, Some(Operation::Constant(Constant::String(_))));
    // A string that is computed is mostly a key that callers agree about, on purpose.
    let severity = match is_box || is_literal || method.field_of(object).is_some() {
        true => Severity::High,
        false => Severity::Medium,
    };
    let class = method.facts.class_name(class);
    let lock = match is_literal {
        true => Named::from("a string literal".to_string()),
        false => method.name_of(object),
    };
    findings.push(method.finding(
        SHARED,
        severity,
        vec![("lock", lock), ("class", class.into())],
        vec![("acquired", offset)],
    ));
}

fn get_class(method: &MethodFacts<'_>, object: ValueId, offset: u32, findings: &mut Vec<Finding>) {
    let program = method.program();
    let Some(Operation::Call(call)) =
        method.body.defining_instruction(object).map(|it| &it.operation)
    else {
        return;
    };
    let called = &program.methods[call.method];
    let is_get_class = &*called.name == "getClass"
        && &*program.classes[called.class].name == language::OBJECT
        && call.arguments.first().is_some_and(|it| method.body.is_receiver(program, *it));
    let class = program.methods[method.method].class;
    if !is_get_class || program.classes[class].access & access::FINAL != 0 {
        return;
    }
    let has_subclasses = program.hierarchy.cone(class).iter().any(|sub| *sub != class);
    let severity = if has_subclasses { Severity::High } else { Severity::Medium };
    let name = method.facts.class_name(class);
    findings.push(method.finding(
        GET_CLASS,
        severity,
        vec![("class", name.into())],
        vec![("acquired", offset)],
    ));
}

fn static_field(
    method: &MethodFacts<'_>,
    field: FieldId,
    offset: u32,
    findings: &mut Vec<Finding>,
) {
    let program = method.program();
    let held = method.held(offset);
    if held.is_empty()
        || method.facts.is_volatile(field)
        || method.is_constructing()
        || method.facts.has_one_thread(method.method)
        || program.fields[field].access & access::SYNTHETIC != 0
    {
        return;
    }
    let is_of_one_object = |lock: &Option<LockExpression>| {
        lock.is_some_and(|lock| {
            lock.root == ExpressionRoot::Parameter(0)
                && !program.methods[method.method].is_static()
                && lock.steps().iter().all(|it| matches!(it, PathElement::Field(field) if !program.fields[*field].is_static()))
        })
    };
    if !held.iter().all(is_of_one_object) || is_single_object(method) {
        return;
    }
    let Some(Some(lock)) = held.last() else { return };
    findings.push(method.finding(
        WRONG,
        Severity::Medium,
        vec![("variable", method.facts.field_name(field).into()), ("lock", method.describe(*lock))],
        vec![("written", offset)],
    ));
}

/// Whether the class has one object, which a static field of its own type holds, or one for each constant of an
/// enumeration.
fn is_single_object(method: &MethodFacts<'_>) -> bool {
    let program = method.program();
    let class = program.methods[method.method].class;
    let declared = &program.classes[class];
    let constructors =
        declared.methods.iter().filter(|it| &*program.methods[**it].name == "<init>");
    let all_private = constructors.clone().count() > 0
        && constructors.clone().all(|it| program.methods[*it].is_private());
    let descriptor = format!("L{};", declared.name);
    let held = declared.fields.iter().any(|it| {
        program.fields[*it].is_static() && *program.fields[*it].descriptor == *descriptor
    });
    (all_private && held) || declared.access & access::ENUM != 0
}

/// A task or lambda class that locks itself while it writes a field of the object around it.
fn wrong_this(
    method: &MethodFacts<'_>,
    object: ValueId,
    field: FieldId,
    offset: u32,
    findings: &mut Vec<Finding>,
) {
    let program = method.program();
    let held = method.held(offset);
    if held.is_empty()
        || method.facts.is_volatile(field)
        || program.methods[method.method].is_static()
    {
        return;
    }
    let this = LockExpression::new(ExpressionRoot::Parameter(0));
    if !held.iter().all(|lock| *lock == Some(this)) {
        return;
    }
    let Some(owner) = method.expressions.of(object) else { return };
    let [PathElement::Field(outer)] = owner.steps() else { return };
    let is_outer = owner.root == ExpressionRoot::Parameter(0)
        && program.fields[*outer].name.starts_with("this$");
    let class = program.methods[method.method].class;
    // Where one object makes many tasks, each has its own lock. Of an inner class that is no task there may be one.
    let is_task = program::threads::task_methods_of(program, class).contains(&method.method);
    if !is_outer || !is_task {
        return;
    }
    let Some(path) = method.field_path(Some(object), field) else { return };
    findings.push(method.finding(
        WRONG,
        Severity::High,
        vec![("variable", method.describe(path)), ("lock", "this".to_string().into())],
        vec![("written", offset)],
    ));
}
