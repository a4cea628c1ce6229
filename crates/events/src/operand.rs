//! What actions are done to, apart from what they are.

use agent_protocol::OperandKind;

use crate::{Branch, ClassId, Condition, ObjectId, ThreadId, Variable};

/// What an action is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Nothing more is to be said.
    None,
    /// A variable.
    Variable(Variable),
    /// An object.
    Object(ObjectId),
    /// Another thread.
    Thread(ThreadId),
    /// A class.
    Class(ClassId),
    /// An object and its class.
    ObjectOfClass(ObjectId, ClassId),
    /// Which way a branch went.
    Branch(Branch),
    /// What a condition is.
    Condition(Condition),
}

impl Operand {
    /// What kind of operand it is.
    #[must_use]
    pub fn kind(self) -> OperandKind {
        match self {
            Operand::None => OperandKind::None,
            Operand::Variable(_) => OperandKind::Variable,
            Operand::Object(_) => OperandKind::Object,
            Operand::Thread(_) => OperandKind::Thread,
            Operand::Class(_) => OperandKind::Class,
            Operand::ObjectOfClass(..) => OperandKind::ObjectOfClass,
            Operand::Branch(_) => OperandKind::Branch,
            Operand::Condition(_) => OperandKind::Condition,
        }
    }
}

/// The operands that a variant of [`crate::Action`] has, as a tuple.
pub(crate) trait Operands: Sized {
    /// The operands as one.
    fn operand(self) -> Operand;

    /// The operands that one stands for, if it is of their kind.
    fn of(operand: Operand) -> Option<Self>;
}

macro_rules! operands {
    ($variant:ident $(($($field:ident: $operand:ident),+))?) => {
        impl Operands for ($($($operand,)+)?) {
            #[inline]
            fn operand(self) -> Operand {
                let ($($($field,)+)?) = self;
                Operand::$variant $(($($field),+))?
            }

            #[inline]
            fn of(operand: Operand) -> Option<Self> {
                let Operand::$variant $(($($field),+))? = operand else { return None };
                Some(($($($field,)+)?))
            }
        }
    };
}

operands!(None);
operands!(Variable(variable: Variable));
operands!(Object(object: ObjectId));
operands!(Thread(thread: ThreadId));
operands!(Class(class: ClassId));
operands!(ObjectOfClass(object: ObjectId, class: ClassId));
operands!(Branch(way: Branch));
operands!(Condition(condition: Condition));
