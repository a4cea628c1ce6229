//! What is tracked: variables, the locks that guard them, and the accesses of single instructions.

use program::Program;
use program::ids::{FieldId, MethodId, ValueId};
use program::ir::{Call, Instruction, Operation};
use program::models::{ContentsAccess, Removal};

use crate::locks::expression::{ExpressionRoot, Expressions, LockExpression, PathElement};

/// Which part of the memory behind a path is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// The field itself.
    Value,
    /// The elements of the array that is there, taken as one.
    Elements,
    /// The contents of the collection that is there, taken as one.
    Contents,
}

/// Something that can be read and written, as the method at hand names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Variable {
    /// Which part.
    pub(crate) part: Part,
    /// The field that it is, or that holds the array or collection, if it is known.
    pub(crate) field: Option<FieldId>,
    /// How the code gets there, if that can be named.
    pub(crate) path: Option<LockExpression>,
}

impl Variable {
    fn of_field(field: FieldId, path: Option<LockExpression>) -> Variable {
        Variable { part: Part::Value, field: Some(field), path }
    }

    fn of_container(part: Part, path: Option<LockExpression>) -> Variable {
        Variable { part, field: container_field(path), path }
    }

    /// Whether both are surely the same.
    #[must_use]
    pub(crate) fn is(&self, other: &Variable) -> bool {
        self.part == other.part && self.path.is_some() && self.path == other.path
    }

    /// Whether both may be the same, as far as names show.
    #[must_use]
    pub(crate) fn may_be(&self, other: &Variable) -> bool {
        let same_field = self.field.is_some() && self.field == other.field;
        let same_object = self.path.is_none() || other.path.is_none() || self.path == other.path;
        self.part == other.part && (self.is(other) || same_field && same_object)
    }

    /// The object whose lock would guard it, if that can be named.
    fn owner(&self) -> Option<LockExpression> {
        Some(self.path?.split_last()?.0)
    }

    /// The same without what only the method at hand can name.
    #[must_use]
    pub(crate) fn without_locals(self) -> Variable {
        Variable { path: self.path.filter(|path| !path.is_local()), ..self }
    }
}

/// The field that holds what a path leads to.
#[must_use]
pub(crate) fn container_field(path: Option<LockExpression>) -> Option<FieldId> {
    let path = path?;
    match (path.steps().last(), path.root) {
        (Some(PathElement::Field(field)), _) => Some(*field),
        (None, ExpressionRoot::Static(field)) => Some(field),
        _ => None,
    }
}

/// The relation of a lock to the object whose variable it guards. Two accesses under locks of the
/// same guard exclude each other when they are to the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum GuardRelation {
    /// The same for all objects: a static field or a class.
    Global(LockExpression),
    /// From the owner of the variable: so many steps back (which ones), then these steps. `this` for
    /// a field of `this` is no step at all.
    Relative {
        /// The steps that lead from where both start to the owner, on an arbitrary root.
        owner: LockExpression,
        /// The steps that lead from where both start to the lock, on an arbitrary root.
        lock: LockExpression,
    },
    /// Not known.
    Unknown,
}

impl GuardRelation {
    /// The relation of a lock to a variable.
    #[must_use]
    pub(crate) fn of(variable: &Variable, lock: Option<LockExpression>) -> GuardRelation {
        let Some(lock) = lock else { return GuardRelation::Unknown };
        if matches!(lock.root, ExpressionRoot::Static(_) | ExpressionRoot::Class(_)) {
            return GuardRelation::Global(lock);
        }
        // A collection can be its own lock.
        if variable.part != Part::Value && variable.path == Some(lock) {
            let start = LockExpression::new(ExpressionRoot::Parameter(0));
            return GuardRelation::Relative { owner: start, lock: start };
        }
        let Some(owner) = variable.owner().filter(|owner| owner.root == lock.root) else {
            return GuardRelation::Unknown;
        };
        let shared =
            owner.steps().iter().zip(lock.steps()).take_while(|(one, other)| one == other).count();
        let rest = |steps: &[PathElement]| {
            let start = LockExpression::new(ExpressionRoot::Parameter(0));
            steps[shared..].iter().try_fold(start, |expression, step| expression.then(*step))
        };
        match (rest(owner.steps()), rest(lock.steps())) {
            (Some(owner), Some(lock)) => GuardRelation::Relative { owner, lock },
            _ => GuardRelation::Unknown,
        }
    }
}

/// What an instruction reads, other than through calls of methods with bodies.
#[must_use]
pub(crate) fn read_by(
    expressions: &Expressions<'_>,
    instruction: &Instruction,
) -> Option<Variable> {
    match &instruction.operation {
        Operation::GetField { object, field } => {
            let path =
                expressions.of(*object).and_then(|object| object.then(PathElement::Field(*field)));
            Some(Variable::of_field(*field, path))
        }
        Operation::GetStatic(field) => {
            let path = LockExpression::new(ExpressionRoot::Static(*field));
            Some(Variable::of_field(*field, Some(path)))
        }
        Operation::ArrayLoad { array, .. } => {
            Some(Variable::of_container(Part::Elements, expressions.of(*array)))
        }
        _ => None,
    }
}

/// What an instruction writes, other than through calls.
#[must_use]
pub(crate) fn written_by(
    expressions: &Expressions<'_>,
    instruction: &Instruction,
) -> Option<Variable> {
    match &instruction.operation {
        Operation::PutField { object, field, .. } => {
            let path =
                expressions.of(*object).and_then(|object| object.then(PathElement::Field(*field)));
            Some(Variable::of_field(*field, path))
        }
        Operation::PutStatic { field, .. } => {
            let path = LockExpression::new(ExpressionRoot::Static(*field));
            Some(Variable::of_field(*field, Some(path)))
        }
        Operation::ArrayStore { array, .. } => {
            Some(Variable::of_container(Part::Elements, expressions.of(*array)))
        }
        _ => None,
    }
}

/// What the call of a library method does to the contents of its receiver: the access, and the
/// collection.
#[must_use]
pub(crate) fn contents_accessed(
    program: &Program,
    expressions: &Expressions<'_>,
    call: &Call,
) -> Option<(ContentsAccess, Variable, ValueId)> {
    let access = contents_access(program, call.method)?;
    let receiver = *call.arguments.first()?;
    let path = expressions.of(receiver);
    Some((access, Variable::of_container(Part::Contents, path), receiver))
}

/// What a library method does to the contents of its receiver. Its row says, even where the library
/// itself is what is analysed: whoever uses a collection sees one variable, not its inside.
#[must_use]
pub(crate) fn contents_access(program: &Program, method: MethodId) -> Option<ContentsAccess> {
    let declared = &program.methods[method];
    let class = &program.classes[declared.class].name;
    let is_modelled =
        || program.models().lookup(class, &declared.name, &declared.descriptor).is_some();
    if declared.is_static() || (program.body(method).is_some() && !is_modelled()) {
        return None;
    }
    program.models().contents_access(class, &declared.name, program.effects_of(method))
}

/// The contents of the receiver, as a library method names them.
#[must_use]
pub(crate) fn contents_of_receiver() -> Variable {
    Variable::of_container(Part::Contents, Some(LockExpression::new(ExpressionRoot::Parameter(0))))
}

/// How a library method takes something out of a collection, if it does.
#[must_use]
pub(crate) fn removal(program: &Program, method: MethodId) -> Option<Removal> {
    let declared = &program.methods[method];
    program.models().removal(&declared.name, &declared.descriptor)
}
