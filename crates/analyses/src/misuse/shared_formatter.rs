//! Rule `shared-formatter`: an object whose methods change it while they work (`SimpleDateFormat` and its kin) is in a
//! static field, alone or in an array, and is used without a lock.
//!
//! Misses: instance fields of shared objects, which `data-race` knows better. May report a field that one thread alone
//! uses, where the call graph shows several.

use findings::{Finding, Severity};
use program::ids::{ClassId, FieldId, ValueId};
use program::ir::Operation;
use program::models::{ClassProperty, Effect, Operand};

use super::facts::MethodFacts;

const RULE: &str = "shared-formatter";

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    let program = method.program();
    for (_, instruction, call) in method.calls() {
        let Some(receiver) = method.receiver(call) else { continue };
        let value = method.body.without_casts(receiver);
        let Some((field, class)) = in_static_field(method, value) else { continue };
        if !method.facts.class_is(class, ClassProperty::ChangesWhenUsed)
            || !changes(method, call)
            || method.is_locked(instruction.offset)
            || method.is_constructing()
            || method.facts.has_one_thread(method.method)
        {
            continue;
        }
        let class = method.facts.class_name(class);
        let field = &program.fields[field];
        let name = format!("{}.{}", method.facts.class_name(field.class), field.name);
        findings.push(method.finding(
            RULE,
            Severity::High,
            vec![("variable", name.into()), ("class", class.into())],
            vec![("used", instruction.offset)],
        ));
        return;
    }
}

/// The static field that a value comes from, itself or as an element of the array there, with its class.
fn in_static_field(method: &MethodFacts<'_>, value: ValueId) -> Option<(FieldId, ClassId)> {
    let operation = |value| method.body.defining_instruction(value).map(|it| &it.operation);
    match operation(value)? {
        Operation::GetStatic(field) => Some((*field, method.class_of(value)?)),
        Operation::ArrayLoad { array, .. } => {
            let Operation::GetStatic(field) = operation(method.body.without_casts(*array))? else {
                return None;
            };
            let program = method.program();
            let element = program.fields[*field].descriptor.strip_prefix('[')?;
            Some((*field, program.class_of_descriptor(element)?))
        }
        _ => None,
    }
}

/// Whether a call changes its receiver. What has no row may.
fn changes(method: &MethodFacts<'_>, call: &program::ir::Call) -> bool {
    let is_object_method = ["equals", "hashCode", "toString", "clone"]
        .contains(&&*method.program().methods[call.method].name);
    let writes = |effect: &Effect| matches!(effect, Effect::Write { of: Operand::Receiver });
    !is_object_method
        && (method.program().row_of(call.method).is_none() && !is_getter(method, call)
            || method.effects(call).iter().any(writes))
}

fn is_getter(method: &MethodFacts<'_>, call: &program::ir::Call) -> bool {
    let name = &method.program().methods[call.method].name;
    ["get", "is", "to"].iter().any(|prefix| name.starts_with(prefix))
}
