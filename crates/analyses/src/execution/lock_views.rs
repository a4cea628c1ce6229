//! What is known of the locks and flags that fields keep.
//!
//! A read-write lock has two views, a lock has conditions, and code keeps either in fields of their own.
//! Whoever locks `this.readLock` locks `this.readWriteLock`, for reading; whoever waits for `this.notEmpty`
//! gives back `this.lock`. A semaphore with a single permit that a field keeps is a lock, too. Found where
//! the fields are set.
//!
//! Misses views that are passed through parameters. May take the lock of another object for that of a view if
//! a field is set twice.

use classes::access;
use classes::bytecode::Literal;
use program::Program;
use program::ids::{FieldId, MethodId, ValueId};
use program::ir::{Body, Constant, Operation, Terminator};
use program::models::{ClassProperty, Effect, Mode, Operand};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::LockMode;
use crate::locks::expression::{ExpressionRoot, LockExpression, PathElement};

/// What is known of fields.
#[derive(Debug, Default)]
pub(super) struct LockViews {
    /// How a lock is taken through the view that a field keeps.
    modes: FxHashMap<FieldId, LockMode>,
    /// The field that keeps the lock to which the view or condition of a field belongs.
    owners: FxHashMap<FieldId, FieldId>,
    single_permits: FxHashSet<FieldId>,
    /// Volatile fields whose value decides where some code goes.
    tested: FxHashSet<FieldId>,
}

/// What one body says about fields.
#[derive(Default)]
struct BodyFieldFacts {
    modes: Vec<(FieldId, LockMode)>,
    owners: Vec<(FieldId, FieldId)>,
    single_permits: Vec<FieldId>,
    other_permits: Vec<FieldId>,
    tested: Vec<FieldId>,
}

/// A field that is set.
struct FieldStore {
    object: Option<ValueId>,
    field: FieldId,
    /// What is kept; of a view or condition, the underlying lock.
    kept: ValueId,
    is_lock_view: bool,
}

/// Whether a field is volatile.
pub(super) fn is_volatile(program: &Program, field: FieldId) -> bool {
    program.fields[field].access & access::VOLATILE != 0
}

/// The lock whose view or condition a value is where it is made right here, and in which mode that view
/// locks.
pub(super) fn viewed_lock(
    program: &Program,
    body: &Body,
    value: ValueId,
) -> Option<(ValueId, Option<LockMode>)> {
    let value = body.without_casts(value);
    let Operation::Call(call) = &body.defining_instruction(value)?.operation else { return None };
    program.effects_of(call.method).iter().find_map(|effect| match effect {
        Effect::LockView { of: Operand::Receiver, mode } => {
            let mode = match mode {
                Mode::Shared => Some(LockMode::Shared),
                Mode::Exclusive => Some(LockMode::Exclusive),
                Mode::Optimistic | Mode::Permit | Mode::Any => None,
            };
            Some((*call.arguments.first()?, mode))
        }
        Effect::ConditionOf { lock: Operand::Receiver } => Some((*call.arguments.first()?, None)),
        _ => None,
    })
}

impl LockViews {
    /// Looks through all bodies.
    pub(super) fn of(program: &Program) -> LockViews {
        let methods: Vec<MethodId> = program.methods_with_bodies().collect();
        let found: Vec<BodyFieldFacts> = methods
            .par_iter()
            .filter_map(|method| Some(scan_body(program, program.body(*method)?)))
            .collect();
        let mut lock_views = LockViews::default();
        for of_body in &found {
            lock_views.modes.extend(of_body.modes.iter().copied());
            lock_views.owners.extend(of_body.owners.iter().copied());
            lock_views.single_permits.extend(&of_body.single_permits);
            lock_views.tested.extend(&of_body.tested);
        }
        for field in found.iter().flat_map(|of_body| &of_body.other_permits) {
            lock_views.single_permits.remove(field);
        }
        lock_views
    }

    /// How a lock is taken through the view that this field keeps, if it keeps one.
    pub(super) fn mode(&self, field: FieldId) -> Option<LockMode> {
        self.modes.get(&field).copied()
    }

    /// Whether a field keeps semaphores with one permit only.
    pub(super) fn is_single_permit(&self, field: FieldId) -> bool {
        self.single_permits.contains(&field)
    }

    /// Whether some code goes one way or the other by the value of this volatile field.
    pub(super) fn is_tested(&self, field: FieldId) -> bool {
        self.tested.contains(&field)
    }

    /// The name of the underlying lock of a view or a condition that a field keeps; other names stay as they are.
    pub(super) fn underlying_lock(&self, expression: LockExpression) -> LockExpression {
        match (expression.split_last(), expression.root) {
            (Some((object, PathElement::Field(field))), _) => self
                .owners
                .get(&field)
                .and_then(|owner| object.then(PathElement::Field(*owner)))
                .unwrap_or(expression),
            (None, ExpressionRoot::Static(field)) => match self.owners.get(&field) {
                Some(owner) => LockExpression::new(ExpressionRoot::Static(*owner)),
                None => expression,
            },
            _ => expression,
        }
    }
}

fn scan_body(program: &Program, body: &Body) -> BodyFieldFacts {
    let mut found = BodyFieldFacts::default();
    let mut puts = Vec::new();
    for instruction in body.instructions() {
        let (object, field, value) = match &instruction.operation {
            Operation::PutField { object, field, value } => {
                (Some(body.without_casts(*object)), *field, *value)
            }
            Operation::PutStatic { field, value } => (None, *field, *value),
            _ => continue,
        };
        if !program.fields[field].descriptor.starts_with('L') {
            continue;
        }
        if program.class_of_field(field).is_some_and(|class| {
            program.models().is(&program.classes[class].name, ClassProperty::Semaphore)
        }) {
            match has_single_permit(program, body, value) {
                true => found.single_permits.push(field),
                false => found.other_permits.push(field),
            }
        }
        match viewed_lock(program, body, value) {
            Some((lock, mode)) => {
                found.modes.extend(mode.map(|mode| (field, mode)));
                puts.push(FieldStore {
                    object,
                    field,
                    kept: body.without_casts(lock),
                    is_lock_view: true,
                });
            }
            None => {
                let kept = body.without_casts(value);
                puts.push(FieldStore { object, field, kept, is_lock_view: false });
            }
        }
    }
    for put in puts.iter().filter(|put| put.is_lock_view) {
        let read = match body.defining_instruction(put.kept).map(|it| &it.operation) {
            Some(Operation::GetField { object, field })
                if Some(body.without_casts(*object)) == put.object =>
            {
                Some(*field)
            }
            Some(Operation::GetStatic(field)) if put.object.is_none() => Some(*field),
            _ => None,
        };
        let beside = |is_lock_view: bool| {
            let same = |other: &&FieldStore| {
                other.is_lock_view == is_lock_view
                    && other.kept == put.kept
                    && other.object == put.object
            };
            puts.iter().find(same).map(|other| other.field)
        };
        // Two views of a lock that no field keeps: the first one stands for it.
        let owner = read.or_else(|| beside(false)).or_else(|| beside(true));
        found.owners.extend(owner.filter(|owner| *owner != put.field).map(|it| (put.field, it)));
    }
    for block in body.blocks.iter() {
        match &block.terminator {
            Terminator::Branch { .. } | Terminator::Return(Some(_)) | Terminator::Switch { .. } => {
                for value in block.terminator.operands() {
                    found.tested.extend(volatile_read(program, body, value));
                }
            }
            Terminator::Goto(_) | Terminator::Return(None) | Terminator::Throw(_) => {}
        }
    }
    found
}

fn volatile_read(program: &Program, body: &Body, value: ValueId) -> Option<FieldId> {
    let value = body.without_casts(value);
    match &body.defining_instruction(value)?.operation {
        Operation::GetField { field, .. } | Operation::GetStatic(field) => {
            is_volatile(program, *field).then_some(*field)
        }
        Operation::Compare(left, _) => volatile_read(program, body, *left),
        _ => None,
    }
}

fn has_single_permit(program: &Program, body: &Body, value: ValueId) -> bool {
    let value = body.without_casts(value);
    body.instructions().any(|instruction| match &instruction.operation {
        Operation::Call(call)
            if &*program.methods[call.method].name == "<init>"
                && call.arguments.first() == Some(&value) =>
        {
            let permits = call.arguments.get(1).and_then(|it| body.defining_instruction(*it));
            matches!(
                permits.map(|it| &it.operation),
                Some(Operation::Constant(Constant::Literal(Literal::Int(1))))
            )
        }
        _ => false,
    })
}
