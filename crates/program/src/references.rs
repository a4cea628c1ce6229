//! Which values of a body are references to objects that can change.

use classes::bytecode::{Kind, Literal};
use classes::descriptor::parameter_descriptors;
use models::{ClassProperty, Sharing};
use rustc_hash::FxHashSet;

use crate::ids::{ClassId, FieldId, Id, TypedVec, ValueId};
use crate::ir::{Body, Constant, Definition, DynamicTarget, Operation};
use crate::symbols::Program;

/// Objects that never change: nobody needs to know who shares them.
pub struct Immutables {
    /// The classes of such objects.
    is_immutable: TypedVec<ClassId, bool>,
    /// Static fields that keep an array without elements for whoever needs one. Taken for objects, these make all arrays of
    /// their type one, and everything that is in them.
    empty_arrays: FxHashSet<FieldId>,
}

impl Immutables {
    /// What never changes in a program.
    #[must_use]
    pub fn of(program: &Program) -> Immutables {
        let models = program.models();
        let is_immutable = program.classes.iter().map(|class| {
            models.sharing(&class.name) == Some(Sharing::Immutable)
                && !models.is(&class.name, ClassProperty::HoldsOthers)
        });
        Immutables { is_immutable: is_immutable.collect(), empty_arrays: empty_arrays(program) }
    }

    /// Whether objects of this class never change.
    #[must_use]
    pub fn contains(&self, class: ClassId) -> bool {
        self.is_immutable[class]
    }

    /// Whether a variable of this type refers to something that can change.
    #[must_use]
    pub fn is_reference(&self, program: &Program, descriptor: &str) -> bool {
        match descriptor.as_bytes().first() {
            Some(b'[') => true,
            Some(b'L') => program
                .class_named(&descriptor[1..descriptor.len() - 1])
                .is_none_or(|class| !self.contains(class)),
            _ => false,
        }
    }

    /// For every value of a body whether it is such a reference.
    #[must_use]
    pub fn references(&self, program: &Program, body: &Body) -> Vec<bool> {
        let mut known = vec![false; body.definitions.len()];
        let method = &program.methods[body.method];
        let mut parameters = body.parameters.iter();
        if !method.is_static()
            && let Some(receiver) = parameters.next()
        {
            known[receiver.index()] = !self.contains(method.class);
        }
        for (value, descriptor) in parameters.zip(parameter_descriptors(&method.descriptor)) {
            known[value.index()] = self.is_reference(program, descriptor);
        }
        for block in body.blocks.iter() {
            if let Some(caught) = block.caught {
                known[caught.index()] = true;
            }
            for instruction in &block.instructions {
                let Some(result) = instruction.result else { continue };
                known[result.index()] = self.gives_reference(program, &instruction.operation);
            }
        }
        // A phi is a reference if any input is; inputs may be phis themselves.
        let mut changed = true;
        while changed {
            changed = false;
            for phi in body.blocks.iter().flat_map(|block| &block.phis) {
                let is_reference = |value: &ValueId| known[value.index()];
                if !known[phi.result.index()] && phi.inputs.iter().flatten().any(is_reference) {
                    known[phi.result.index()] = true;
                    changed = true;
                }
            }
        }
        for (value, definition) in body.definitions.iter_with_ids() {
            if *definition == Definition::Removed {
                known[value.index()] = false;
            }
        }
        known
    }

    fn gives_reference(&self, program: &Program, operation: &Operation) -> bool {
        match operation {
            Operation::GetStatic(field) if self.empty_arrays.contains(field) => false,
            Operation::GetField { field, .. } | Operation::GetStatic(field) => {
                self.is_reference(program, &program.fields[*field].descriptor)
            }
            Operation::ArrayLoad { kind, .. } => *kind == Kind::Ref,
            Operation::New(class) => !self.contains(*class),
            Operation::NewArray { .. } => true,
            Operation::Cast { class, .. } => class.is_none_or(|class| !self.contains(class)),
            Operation::Call(call) => {
                let descriptor = &program.methods[call.method].descriptor;
                let result = descriptor.rfind(')').map(|at| &descriptor[at + 1..]);
                result.is_some_and(|result| self.is_reference(program, result))
            }
            Operation::DynamicCall(call) => match call.target {
                DynamicTarget::Lambda(_) | DynamicTarget::Unknown(_) => true,
                DynamicTarget::StringConcatenation
                | DynamicTarget::RecordMethod
                | DynamicTarget::PatternSwitch => false,
            },
            Operation::Constant(_)
            | Operation::PutField { .. }
            | Operation::PutStatic { .. }
            | Operation::ArrayStore { .. }
            | Operation::ArrayLength(_)
            | Operation::InstanceOf { .. }
            | Operation::Binary { .. }
            | Operation::Unary(_)
            | Operation::Compare(..)
            | Operation::MonitorEnter(_)
            | Operation::MonitorExit(_) => false,
        }
    }
}

/// The final static fields that keep an array of length zero, and that nobody locks.
fn empty_arrays(program: &Program) -> FxHashSet<FieldId> {
    let (mut empty, mut locked) = (FxHashSet::default(), Vec::new());
    for body in program.methods_with_bodies().filter_map(|method| program.body(method)) {
        let defined_by = |value: ValueId| {
            body.defining_instruction(body.without_casts(value)).map(|it| &it.operation)
        };
        let is_zero = |value: ValueId| {
            matches!(
                defined_by(value),
                Some(Operation::Constant(Constant::Literal(Literal::Int(0))))
            )
        };
        for instruction in body.instructions() {
            match &instruction.operation {
                Operation::PutStatic { field, value } if program.fields[*field].is_final() => {
                    if let Some(Operation::NewArray { lengths, .. }) = defined_by(*value)
                        && lengths.first().is_some_and(|length| is_zero(*length))
                    {
                        empty.insert(*field);
                    }
                }
                Operation::MonitorEnter(lock) => {
                    if let Some(Operation::GetStatic(field)) = defined_by(*lock) {
                        locked.push(*field);
                    }
                }
                _ => {}
            }
        }
    }
    for field in locked {
        empty.remove(&field);
    }
    empty
}
