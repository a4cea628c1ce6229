//! Rule `thread-in-constructor`: a constructor starts a thread that uses the object, and the class can be extended, so
//! that the thread may run before the constructor of a subclass has.
//!
//! Misses: tasks that are handed to an executor; threads that are started more than [`MOST_CALLS`] calls away.

use classes::access;
use findings::{Finding, Severity};
use program::Program;
use program::callgraph::CallKind;
use program::ids::{MethodId, ValueId};
use program::ir::{Body, Operation};
use program::models::Effect;

use super::facts::MethodFacts;

const RULE: &str = "thread-in-constructor";

/// Calls on the new object that are followed.
const MOST_CALLS: usize = 2;

pub(super) fn search(method: &MethodFacts<'_>, findings: &mut Vec<Finding>) {
    let program = method.program();
    let declared = &program.methods[method.method];
    let class = &program.classes[declared.class];
    let can_be_extended = class.access & (access::FINAL | access::ENUM) == 0
        && !declared.is_private()
        && !is_local_class(&class.name);
    if &*declared.name != "<init>" || !can_be_extended {
        return;
    }
    let has_subclasses =
        program.hierarchy.cone(declared.class).iter().any(|it| *it != declared.class);
    let is_open = class.access & access::PUBLIC != 0
        && declared.access & (access::PUBLIC | access::PROTECTED) != 0;
    if !has_subclasses && !is_open {
        return;
    }
    for (_, instruction) in method.instructions() {
        let Operation::Call(call) = &instruction.operation else { continue };
        let starts =
            starts_with(method, method.body, method.method, instruction.offset, MOST_CALLS);
        if !starts || !call.arguments.iter().any(|it| refers_to_this(program, method.body, *it)) {
            continue;
        }
        let severity = if has_subclasses { Severity::High } else { Severity::Low };
        let name = method.facts.class_name(declared.class);
        findings.push(method.finding(
            RULE,
            severity,
            vec![("class", name.into())],
            vec![("started", instruction.offset)],
        ));
        return;
    }
}

/// Anonymous and local classes have a number in their name, and nobody extends them.
fn is_local_class(name: &str) -> bool {
    let last = name.rsplit('$').next().unwrap_or_default();
    name.contains('$') && last.starts_with(|it: char| it.is_ascii_digit())
}

/// Whether the instruction at an offset starts a thread that knows `this`.
fn starts_with(
    method: &MethodFacts<'_>,
    body: &Body,
    at: MethodId,
    offset: u32,
    calls: usize,
) -> bool {
    let program = method.program();
    let Some(instruction) = body.instructions().find(|it| it.offset == offset) else {
        return false;
    };
    let Operation::Call(call) = &instruction.operation else { return false };
    let effects = program.effects_of(call.method);
    let forks = effects.iter().find_map(|effect| match effect {
        Effect::Fork { task } => program.operand_values(call, *task).first().copied(),
        _ => None,
    });
    if let Some(thread) = forks {
        return refers_to_this(program, body, thread);
    }
    let [target] = method.facts.graph.targets(at, offset) else { return false };
    let on_this = call.arguments.first().is_some_and(|it| body.is_receiver(program, *it));
    let is_constructor = &*program.methods[target.method].name == "<init>";
    if calls == 0 || target.call_kind != CallKind::Direct || !on_this || is_constructor {
        return false;
    }
    let Some(callee) = program.body(target.method) else { return false };
    callee.instructions().any(|it| starts_with(method, callee, target.method, it.offset, calls - 1))
}

/// Whether a value is `this`, or a new object, a lambda or a field of `this` that was made with `this`.
fn refers_to_this(program: &Program, body: &Body, value: ValueId) -> bool {
    let value = body.without_casts(value);
    if body.is_receiver(program, value) {
        return true;
    }
    match body.defining_instruction(value).map(|it| &it.operation) {
        Some(Operation::DynamicCall(call)) => {
            call.arguments.iter().any(|it| body.is_receiver(program, *it))
        }
        Some(Operation::New(_)) => body.instructions().any(|it| match &it.operation {
            Operation::Call(call) => {
                &*program.methods[call.method].name == "<init>"
                    && call.arguments.first() == Some(&value)
                    && call.arguments[1..].iter().any(|it| refers_to_this(program, body, *it))
            }
            _ => false,
        }),
        Some(Operation::GetField { field, .. }) => {
            body.instructions().any(|it| match &it.operation {
                Operation::PutField { field: written, value, .. } => {
                    written == field
                        && !matches!(
                            body.defining_instruction(*value).map(|it| &it.operation),
                            Some(Operation::GetField { .. })
                        )
                        && refers_to_this(program, body, *value)
                }
                _ => false,
            })
        }
        _ => false,
    }
}
