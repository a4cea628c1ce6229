//! Locks that are the same object under another name.
//!
//! Names decide which locks are equal (paper, 4.1). Two habits give one lock two names often enough
//! to matter, and then an acquisition looks like one of another lock when it is re-entrant: a lock
//! that is copied from field to field (`this.mutex = owner.mutex`), and a pointer back to the owner
//! (`session.database` inside `Database`). Both are recognised by the code that sets them up. And a
//! synchronized wrapper of the library is its own lock.
//!
//! Misses lists and maps of locks, and locks handed through more than a constructor. May take two
//! locks for one where an object is linked to another object's owner.

use program::Program;
use program::ids::{ClassId, FieldId, Id, MethodId, TypedVec, ValueId};
use program::ir::{Body, Definition, Operation};
use program::models::{Effect, Operand};
use program::union_find::UnionFind;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::expression::{ExpressionRoot, LockExpression, PathElement};

/// Which fields hold copies of each other.
#[derive(Debug)]
pub struct Aliases {
    /// The set of each field: fields that are copied from or to each other have the same.
    representative: TypedVec<FieldId, u32>,
}

/// What one method says about copied fields.
#[derive(Default)]
struct FieldCopies {
    /// Fields that are set from fields.
    copied: Vec<(FieldId, FieldId)>,
    /// Fields that a constructor sets from its parameters, by position.
    kept: Vec<(usize, FieldId)>,
    /// Fields that are handed to constructors, by constructor and position.
    handed: Vec<(MethodId, usize, FieldId)>,
}

impl Aliases {
    /// Finds the fields that are set from other fields, directly or through a constructor.
    #[must_use]
    pub fn of(program: &Program) -> Aliases {
        let methods: Vec<MethodId> = program.methods_with_bodies().collect();
        let copying: Vec<(MethodId, FieldCopies)> =
            methods.par_iter().map(|method| (*method, copying(program, *method))).collect();
        let mut kept: FxHashMap<(MethodId, usize), FieldId> = FxHashMap::default();
        for (method, FieldCopies { kept: of_method, .. }) in &copying {
            kept.extend(of_method.iter().map(|(position, field)| ((*method, *position), *field)));
        }
        let count = program.fields.len() as u32;
        let mut fields = UnionFind::of_singletons(count);
        let mut unite = |one: FieldId, other: FieldId| {
            fields.unite(one.index() as u32, other.index() as u32);
        };
        for (_, FieldCopies { copied, handed, .. }) in &copying {
            copied.iter().for_each(|(to, from)| unite(*to, *from));
            for (constructor, position, from) in handed {
                if let Some(to) = kept.get(&(*constructor, *position)) {
                    unite(*to, *from);
                }
            }
        }
        Aliases { representative: (0..count).map(|field| fields.find(field)).collect() }
    }

    /// Whether two differently named locks of a method are one and the same, as far as can be shown.
    #[must_use]
    pub fn are_same_lock(
        &self,
        program: &Program,
        method: MethodId,
        held: &LockExpression,
        taken: &LockExpression,
    ) -> bool {
        let (held, taken) = (&without_mutex(program, held), &without_mutex(program, taken));
        held == taken
            || self.is_copy(held, taken)
            || returns_to_class(program, method, held, taken)
            || returns_to_class(program, method, taken, held)
    }

    fn is_copy(&self, one: &LockExpression, other: &LockExpression) -> bool {
        match (last_field(one), last_field(other)) {
            (Some(one), Some(other)) => {
                one != other && self.representative[one] == self.representative[other]
            }
            _ => false,
        }
    }
}

fn copying(program: &Program, method: MethodId) -> FieldCopies {
    let mut found = FieldCopies::default();
    let Some(body) = program.body(method) else { return found };
    let is_constructor = |method: MethodId| &*program.methods[method].name == "<init>";
    for instruction in body.instructions() {
        match &instruction.operation {
            Operation::PutField { field, value, .. }
                if program.fields[*field].descriptor.starts_with('L') =>
            {
                let value = body.without_casts(*value);
                if let Some(from) = read_field(body, underlying_lock(program, body, value)) {
                    found.copied.push((*field, from));
                } else if let Definition::Parameter(number) = body.definitions[value]
                    && is_constructor(method)
                {
                    found.kept.push((usize::from(number), *field));
                }
            }
            Operation::Call(call) if is_constructor(call.method) => {
                for (position, argument) in call.arguments.iter().enumerate().skip(1) {
                    if let Some(from) = read_field(body, body.without_casts(*argument)) {
                        found.handed.push((call.method, position, from));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// The lock that a value is a view or a condition of (`readWriteLock` for `readWriteLock.readLock()`),
/// or the value itself.
fn underlying_lock(program: &Program, body: &Body, value: ValueId) -> ValueId {
    let is_face = |effect: &Effect| {
        matches!(
            effect,
            Effect::LockView { of: Operand::Receiver, .. }
                | Effect::ConditionOf { lock: Operand::Receiver }
        )
    };
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

/// A synchronized wrapper is its own lock.
fn without_mutex(program: &Program, expression: &LockExpression) -> LockExpression {
    match expression.split_last() {
        Some((wrapper, PathElement::Field(field))) => {
            let field = &program.fields[field];
            let class = &program.classes[field.class].name;
            if program.models().is_own_mutex(class, &field.name) { wrapper } else { *expression }
        }
        _ => *expression,
    }
}

fn last_field(expression: &LockExpression) -> Option<FieldId> {
    match (expression.steps().last(), expression.root) {
        (Some(PathElement::Field(field)), _) => Some(*field),
        (None, ExpressionRoot::Static(field)) => Some(field),
        _ => None,
    }
}

/// Whether `long` goes on from `short` through an object of another class and back to one of the
/// same class: `lock` and `player.sequencer.lock` inside the sequencer.
fn returns_to_class(
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
    let class_after = |steps: &[PathElement]| match steps.last() {
        Some(PathElement::Field(field)) => program.class_of_field(*field),
        Some(_) => None,
        None => root_class(program, method, short.root),
    };
    let (Some(start), Some(end)) = (class_after(stem), class_after(detour)) else { return false };
    let passes_other = between[..between.len() - 1].iter().all(|step| match step {
        PathElement::Field(field) => {
            program.class_of_field(*field).is_some_and(|class| class != start)
        }
        _ => false,
    });
    // Everything is an Object: only a class that says something about the owner counts.
    let is_telling = |class: ClassId| program.hierarchy.superclass(class).is_some();
    passes_other
        && is_telling(start)
        && is_telling(end)
        && (program.hierarchy.is_subtype(start, end) || program.hierarchy.is_subtype(end, start))
}

fn root_class(program: &Program, method: MethodId, root: ExpressionRoot) -> Option<ClassId> {
    match root {
        ExpressionRoot::Static(field) => program.class_of_field(field),
        ExpressionRoot::Class(_) => None,
        ExpressionRoot::Parameter(_) | ExpressionRoot::Local(_) => {
            let body = program.body(method)?;
            let value = match root {
                ExpressionRoot::Parameter(number) => *body.parameters.get(usize::from(number))?,
                ExpressionRoot::Local(value) => value,
                ExpressionRoot::Static(_) | ExpressionRoot::Class(_) => return None,
            };
            match body.declared_type(program, value) {
                program::ir::DeclaredType::Class(class) => Some(class),
                program::ir::DeclaredType::Array | program::ir::DeclaredType::Unknown => None,
            }
        }
    }
}
