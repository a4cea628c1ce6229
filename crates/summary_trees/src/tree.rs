//! The trees: nested lists of steps of a small machine with registers.
//!
//! A walker executes them against the objects of one moment, without executing the program. Registers hold
//! references, and the roots of a summary also numbers that are used as indices. The roots come first, the
//! other registers are assigned by steps before they are used. Apart from [`StepKind::Set`], each register is
//! assigned by one step. All sides of a choice work on the same registers: one that a side assigns is read
//! behind the choice only if no other side comes there. What sides assign to fields and elements is another
//! matter: behind a choice, a walker that follows all sides knows only what they agree on.
//!
//! The lists of a summary nest: each side of a choice is one level, and a loop is two, the iteration and the
//! loop itself. [`StepKind::Leave`] says how many levels a path leaves at once.

use std::sync::Arc;

use classes::bytecode::{Condition, InvokeKind};

/// A register of the machine that walks a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u32);

/// A field as an instruction names it; the class need not be the one that declares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldRef {
    /// The class the instruction names, in internal form.
    pub owner: Arc<str>,
    /// The name of the field.
    pub name: Arc<str>,
    /// Its type, as a field descriptor.
    pub descriptor: Arc<str>,
}

/// A method as an instruction names it; the class need not be the one that declares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodRef {
    /// The class the instruction names, in internal form.
    pub owner: Arc<str>,
    /// The name of the method.
    pub name: Arc<str>,
    /// Its parameters and result, as a method descriptor.
    pub descriptor: Arc<str>,
    /// Whether the instruction says that the class is an interface.
    pub is_interface: bool,
}

/// A value that a step hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// What a register holds.
    Register(Register),
    /// `null`.
    Null,
    /// A number that stands in the code.
    Int(i32),
    /// A value that the summary cannot name, among them all numbers that are computed.
    Unknown,
}

/// Which element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// A number that stands in the code.
    Constant(i32),
    /// The number that a root holds.
    Root(Register),
}

/// One way out of a branch or switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// The branch instruction jumps.
    Taken,
    /// It does not.
    NotTaken,
    /// The switch finds this number.
    Case(i32),
    /// The switch finds none of its numbers.
    Default,
}

/// What a condition compares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// What a register holds.
    Register(Register),
    /// A number that stands in the code.
    Constant(i32),
    /// What final fields lead to.
    Path {
        /// Where the path begins; absent when its first field is static.
        base: Option<Register>,
        /// Final fields only, at least one.
        fields: Vec<FieldRef>,
    },
}

/// What must hold for a side to be executed, as far as it is about values that cannot change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Guard {
    /// The reference is null.
    IsNull(Term),
    /// The reference is not null.
    NotNull(Term),
    /// The reference is an instance of the class.
    InstanceOf(Term, Arc<str>),
    /// The reference is null, or not an instance of the class.
    NotInstanceOf(Term, Arc<str>),
    /// Both references are the same.
    Same(Term, Term),
    /// The references differ.
    NotSame(Term, Term),
    /// The numbers compare so.
    Compare(Term, Condition, Term),
    /// The number is one of these.
    OneOf(Term, Vec<i32>),
    /// The number is none of these.
    NoneOf(Term, Vec<i32>),
}

/// One side of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The ways of the instruction that lead here; more than one for switches only.
    pub ways: Vec<Way>,
    /// What must hold on this side, where it is known.
    pub guard: Option<Guard>,
    /// What the side does until the sides meet.
    pub steps: Vec<Step>,
}

/// Why a path leaves the lists it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaveReason {
    /// It goes on behind an enclosing choice or loop, or with the next iteration.
    Jump,
    /// It returns from the method, or goes where the summary does not go on.
    Return,
    /// It throws.
    Throw,
    /// It leaves a monitor that was entered outside of the list it is in, and does more afterwards, which is
    /// left out.
    Monitor,
}

/// One step, and the bytecode offset of the instruction it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The bytecode offset.
    pub offset: u32,
    /// What is done.
    pub kind: StepKind,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// The instance field is read.
    Read {
        /// The object.
        base: Register,
        /// The field.
        field: FieldRef,
    },
    /// The instance field is written.
    Write {
        /// The object.
        base: Register,
        /// The field.
        field: FieldRef,
    },
    /// The static field is read.
    ReadStatic {
        /// The field.
        field: FieldRef,
    },
    /// The static field is written.
    WriteStatic {
        /// The field.
        field: FieldRef,
    },
    /// The element is read.
    ReadElement {
        /// The array.
        array: Register,
        /// Which element.
        index: Index,
    },
    /// The element is written.
    WriteElement {
        /// The array.
        array: Register,
        /// Which element.
        index: Index,
    },
    /// The reference in an instance field is put into a register. No access; a read of a field that is not
    /// final has its own step before this one.
    Load {
        /// Is assigned.
        into: Register,
        /// The object.
        base: Register,
        /// The field.
        field: FieldRef,
    },
    /// The reference in a static field is put into a register; no access.
    LoadStatic {
        /// Is assigned.
        into: Register,
        /// The field.
        field: FieldRef,
    },
    /// The reference in an element is put into a register; no access.
    LoadElement {
        /// Is assigned.
        into: Register,
        /// The array.
        array: Register,
        /// Which element.
        index: Index,
    },
    /// The instance field holds this reference from here on, in a copy. No access.
    Store {
        /// The object.
        base: Register,
        /// The field.
        field: FieldRef,
        /// What is assigned.
        value: Operand,
    },
    /// The static field holds this reference from here on, in a copy. No access.
    StoreStatic {
        /// The field.
        field: FieldRef,
        /// What is assigned.
        value: Operand,
    },
    /// The element holds this reference from here on, in a copy. No access.
    StoreElement {
        /// The array.
        array: Register,
        /// Which element.
        index: Index,
        /// What is assigned.
        value: Operand,
    },
    /// A new object, which nobody else has.
    Fresh {
        /// Is assigned.
        into: Register,
    },
    /// The object that stands for a class.
    ClassObject {
        /// Is assigned.
        into: Register,
        /// The class, in internal form.
        class: Arc<str>,
    },
    /// A variable of a loop gets its value for the next iteration.
    Set {
        /// Is assigned.
        into: Register,
        /// What is assigned.
        value: Operand,
    },
    /// A monitor is entered. Left again in the same list, or where a path leaves that list.
    Enter {
        /// The object whose monitor it is.
        lock: Operand,
    },
    /// The monitor that was entered last in this list is left.
    Exit {
        /// The object whose monitor it is.
        lock: Operand,
    },
    /// A method is called, with the receiver as its first argument.
    Call {
        /// How it is called.
        kind: InvokeKind,
        /// The method that the instruction names.
        method: MethodRef,
        /// The receiver, if there is one, and the parameters.
        arguments: Vec<Operand>,
        /// Is assigned the result, when a step needs it.
        result: Option<Register>,
    },
    /// One of the sides is executed.
    Choice {
        /// In the order in which the instruction names them.
        sides: Vec<Side>,
    },
    /// The list is executed twice, which stands for any number of iterations.
    Twice {
        /// One iteration.
        body: Vec<Step>,
    },
    /// The path leaves this many levels, the list that the step stands in first, and the monitors that were
    /// entered in them. The last step of its list.
    Leave {
        /// How many, at least one.
        levels: u32,
        /// Why.
        reason: LeaveReason,
    },
}

impl StepKind {
    /// Whether another thread could notice the step: an access, a monitor or a call, here or in a nested list.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        match self {
            StepKind::Read { .. }
            | StepKind::Write { .. }
            | StepKind::ReadStatic { .. }
            | StepKind::WriteStatic { .. }
            | StepKind::ReadElement { .. }
            | StepKind::WriteElement { .. }
            | StepKind::Enter { .. }
            | StepKind::Exit { .. }
            | StepKind::Call { .. } => true,
            StepKind::Choice { sides } => sides.iter().any(|side| has_visible(&side.steps)),
            StepKind::Twice { body } => has_visible(body),
            StepKind::Load { .. }
            | StepKind::LoadStatic { .. }
            | StepKind::LoadElement { .. }
            | StepKind::Store { .. }
            | StepKind::StoreStatic { .. }
            | StepKind::StoreElement { .. }
            | StepKind::Fresh { .. }
            | StepKind::ClassObject { .. }
            | StepKind::Set { .. }
            | StepKind::Leave { .. } => false,
        }
    }
}

/// Whether another thread could notice something of the list.
#[must_use]
pub fn has_visible(steps: &[Step]) -> bool {
    steps.iter().any(|step| step.kind.is_visible())
}
