//! Locks that are the same object under another name.
//!
//! Names decide which locks are equal (paper, 4.1). Two habits give one lock two names often enough
//! to matter, and then an acquisition looks like one of another lock when it is re-entrant: a lock
//! that is copied from field to field (`this.mutex = owner.mutex`), and a pointer back to the owner
//! (`session.database` inside `Database`). Both are recognised by the code that sets them up.
//!
//! Misses lists and maps of locks, and locks handed through more than a constructor. May take two
//! locks for one where an object is linked to another object's owner.

use program::Program;
use program::ids::{ClassId, FieldId, MethodId, ValueId};
use program::ir::{Body, Definition, Operation};
use program::models::{Effect, Operand};
use rustc_hash::FxHashMap;

use super::expression::{LockExpression, Root, Step};

/// Which fields hold copies of each other.
#[derive(Debug, Default)]
pub struct Aliases {
    /// The representative of each field that is copied; fields without an entry are their own.
    copies: FxHashMap<FieldId, FieldId>,
}

impl Aliases {
    /// Finds the fields that are set from other fields, directly or through a constructor.
    #[must_use]
    pub fn of(program: &Program) -> Aliases {
        let mut aliases = Aliases::default();
        // What constructors do with their parameters: by constructor and parameter, the field.
        let mut kept: FxHashMap<(MethodId, usize), FieldId> = FxHashMap::default();
        for method in program.methods_with_bodies() {
            let Some(body) = program.body(method) else { continue };
            for instruction in body.instructions() {
                let Operation::PutField { field, value, .. } = &instruction.operation else {
                    continue;
                };
                if !program.fields[*field].descriptor.starts_with('L') {
                    continue;
                }
                let value = body.without_casts(*value);
                if let Some(copied) = read_field(body, lock_behind(program, body, value)) {
                    aliases.unite(*field, copied);
                } else if let Definition::Parameter(number) = body.definitions[value]
                    && &*program.methods[method].name == "<init>"
                {
                    kept.insert((method, usize::from(number)), *field);
                }
            }
        }
        for method in program.methods_with_bodies() {
            let Some(body) = program.body(method) else { continue };
            for instruction in body.instructions() {
                let Operation::Call(call) = &instruction.operation else { continue };
                for (position, argument) in call.arguments.iter().enumerate().skip(1) {
                    if let Some(field) = kept.get(&(call.method, position))
                        && let Some(copied) = read_field(body, body.without_casts(*argument))
                    {
                        aliases.unite(*field, copied);
                    }
                }
            }
        }
        aliases
    }

    fn representative(&self, mut field: FieldId) -> FieldId {
        while let Some(next) = self.copies.get(&field) {
            field = *next;
        }
        field
    }

    fn unite(&mut self, one: FieldId, other: FieldId) {
        let (one, other) = (self.representative(one), self.representative(other));
        if one != other {
            self.copies.insert(one.max(other), one.min(other));
        }
    }

    /// Whether two differently named locks of a method are one and the same, as far as can be told.
    #[must_use]
    pub fn are_one(
        &self,
        program: &Program,
        method: MethodId,
        held: &LockExpression,
        taken: &LockExpression,
    ) -> bool {
        held == taken
            || self.is_copy(held, taken)
            || leads_back(program, method, held, taken)
            || leads_back(program, method, taken, held)
    }

    fn is_copy(&self, one: &LockExpression, other: &LockExpression) -> bool {
        match (last_field(one), last_field(other)) {
            (Some(one), Some(other)) => {
                one != other && self.representative(one) == self.representative(other)
            }
            _ => false,
        }
    }
}

/// The lock that a value is a face of (`readWriteLock` for `readWriteLock.readLock()`), or the value
/// itself.
fn lock_behind(program: &Program, body: &Body, value: ValueId) -> ValueId {
    let is_face =
        |effect: &Effect| matches!(effect, Effect::LockView { of: Operand::Receiver, .. });
    match body.defining_instruction(value).map(|defined| &defined.operation) {
        Some(Operation::Call(call)) if program.effects_of(call.method).iter().any(is_face) => {
            call.arguments.first().map_or(value, |lock| body.without_casts(*lock))
        }
        _ => value,
    }
}

fn read_field(body: &Body, value: ValueId) -> Option<FieldId> {
    match body.defining_instruction(value)?.operation {
        Operation::GetField { field, .. } | Operation::GetStatic(field) => Some(field),
        _ => None,
    }
}

fn last_field(expression: &LockExpression) -> Option<FieldId> {
    match (expression.steps().last(), expression.root) {
        (Some(Step::Field(field)), _) => Some(*field),
        (None, Root::Static(field)) => Some(field),
        _ => None,
    }
}

/// Whether `long` goes on from `short` through an object of another class and back to one of the
/// same class: `lock` and `player.sequencer.lock` inside the sequencer.
fn leads_back(
    program: &Program,
    method: MethodId,
    short: &LockExpression,
    long: &LockExpression,
) -> bool {
    if short.root != long.root || long.steps().len() < short.steps().len() + 2 {
        return false;
    }
    let same_end = short
        .steps()
        .iter()
        .rev()
        .zip(long.steps().iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let stem = &short.steps()[..short.steps().len() - same_end];
    let detour = &long.steps()[..long.steps().len() - same_end];
    let Some(between) = detour.strip_prefix(stem).filter(|between| between.len() >= 2) else {
        return false;
    };
    let class_after = |steps: &[Step]| match steps.last() {
        Some(Step::Field(field)) => field_class(program, *field),
        Some(_) => None,
        None => root_class(program, method, short.root),
    };
    let (Some(start), Some(end)) = (class_after(stem), class_after(detour)) else { return false };
    let passes_other = between[..between.len() - 1].iter().all(|step| match step {
        Step::Field(field) => field_class(program, *field).is_some_and(|class| class != start),
        _ => false,
    });
    // Everything is an Object: only a class that says something about the owner counts.
    let is_telling = |class: ClassId| program.hierarchy.superclass(class).is_some();
    passes_other
        && is_telling(start)
        && is_telling(end)
        && (program.hierarchy.is_subtype(start, end) || program.hierarchy.is_subtype(end, start))
}

fn field_class(program: &Program, field: FieldId) -> Option<ClassId> {
    let descriptor = &program.fields[field].descriptor;
    program.class_named(descriptor.strip_prefix('L')?.strip_suffix(';')?)
}

fn root_class(program: &Program, method: MethodId, root: Root) -> Option<ClassId> {
    match root {
        Root::Static(field) => field_class(program, field),
        Root::Class(_) => None,
        Root::Parameter(_) | Root::Local(_) => {
            let body = program.body(method)?;
            let value = match root {
                Root::Parameter(number) => *body.parameters.get(usize::from(number))?,
                Root::Local(value) => value,
                Root::Static(_) | Root::Class(_) => return None,
            };
            match body.declared_type(program, value) {
                program::ir::DeclaredType::Class(class) => Some(class),
                program::ir::DeclaredType::Array | program::ir::DeclaredType::Unknown => None,
            }
        }
    }
}
