//! Method bodies as register code in SSA form.
//!
//! Every value has one definition. Control flow is explicit, exceptions included: a block lists
//! the handlers that an exception raised inside it can reach. Bytecode offsets stay on every
//! instruction, so a place in a body is a place in the class file.

mod dependence;
mod lower;
mod monitors;
mod print;

use std::sync::Arc;

use classes::bytecode::{Against, BinaryOp, Condition, InvokeKind, Kind, Literal};
use classes::descriptor::parameter_descriptors;
use models::language;
use rustc_hash::FxHashMap;

use crate::ids::{BlockId, ClassId, FieldId, Id, LambdaId, MethodId, TypedVec, ValueId};
use crate::summaries;
use crate::symbols::Program;

pub use dependence::{ControlDependence, retries_before};
pub use lower::{LowerError, lower};
pub use monitors::{HeldMonitor, MonitorRegions, monitor_regions};
pub use print::{control_flow_graph, print_body};

/// The body of one method.
#[derive(Clone, Debug)]
pub struct Body {
    /// The method it belongs to.
    pub method: MethodId,
    /// The basic blocks; the first one is where the method starts.
    pub blocks: TypedVec<BlockId, Block>,
    /// The parameters, the receiver first.
    pub parameters: Vec<ValueId>,
    /// How each value is defined.
    pub definitions: TypedVec<ValueId, Definition>,
    /// Names of local variables that hold a value, where the class file knows them.
    pub names: FxHashMap<ValueId, Arc<str>>,
}

/// How a value comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// The n-th parameter, the receiver being 0.
    Parameter(u16),
    /// A phi at the head of a block.
    Phi(BlockId),
    /// The exception that a handler block catches.
    Caught(BlockId),
    /// The result of an instruction: its block and its position there.
    Instruction(BlockId, u32),
    /// A value that was optimised away; nothing refers to it.
    Removed,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Bytecode offset of its first instruction.
    pub offset: u32,
    /// Bytecode offset of its terminator.
    pub end_offset: u32,
    /// Values that depend on where control came from.
    pub phis: Vec<Phi>,
    /// The exception, when this block is a handler.
    pub caught: Option<ValueId>,
    /// What is executed, in order.
    pub instructions: Vec<Instruction>,
    /// Where control goes next.
    pub terminator: Terminator,
    /// Where an exception raised inside goes, first match first.
    pub handlers: Vec<HandlerEdge>,
    /// Where control comes from, in the order of the phis' inputs.
    pub predecessors: Vec<BlockId>,
}

/// A phi: one input for each predecessor, in the same order.
#[derive(Clone, Debug)]
pub struct Phi {
    /// The value it defines.
    pub result: ValueId,
    /// What it is, for each predecessor; absent where the variable is not set on that path.
    pub inputs: Vec<Option<ValueId>>,
}

/// An edge to an exception handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlerEdge {
    /// The handler's first block.
    pub target: BlockId,
    /// The class it catches; `None` catches everything.
    pub catches: Option<ClassId>,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its bytecode offset.
    pub offset: u32,
    /// The value it defines, if any.
    pub result: Option<ValueId>,
    /// What it does.
    pub operation: Operation,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A number or `null`.
    Literal(Literal),
    /// A string.
    String(Arc<str>),
    /// A class literal.
    Class(ClassId),
    /// A method type, method handle or dynamic constant.
    Other,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A constant.
    Constant(Constant),
    /// Reads an instance field.
    GetField {
        /// The object.
        object: ValueId,
        /// The field.
        field: FieldId,
    },
    /// Writes an instance field.
    PutField {
        /// The object.
        object: ValueId,
        /// The field.
        field: FieldId,
        /// What is written.
        value: ValueId,
    },
    /// Reads a static field.
    GetStatic(FieldId),
    /// Writes a static field.
    PutStatic {
        /// The field.
        field: FieldId,
        /// What is written.
        value: ValueId,
    },
    /// Reads an array element.
    ArrayLoad {
        /// The array.
        array: ValueId,
        /// The index.
        index: ValueId,
        /// Kind of the element.
        kind: Kind,
    },
    /// Writes an array element.
    ArrayStore {
        /// The array.
        array: ValueId,
        /// The index.
        index: ValueId,
        /// What is written.
        value: ValueId,
    },
    /// Length of an array.
    ArrayLength(ValueId),
    /// Allocates an object; its constructor is a call of its own.
    New(ClassId),
    /// Allocates an array.
    NewArray {
        /// Class of the elements of a one-dimensional array of references.
        element: Option<ClassId>,
        /// The lengths, outermost first.
        lengths: Vec<ValueId>,
    },
    /// A checked cast: the same object, seen as another class.
    Cast {
        /// The object.
        value: ValueId,
        /// The class; `None` for array classes.
        class: Option<ClassId>,
    },
    /// A type test.
    InstanceOf {
        /// The object.
        value: ValueId,
        /// The class; `None` for array classes.
        class: Option<ClassId>,
    },
    /// Arithmetic and logic of two operands.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// Left operand.
        left: ValueId,
        /// Right operand.
        right: ValueId,
    },
    /// Negation or conversion of a number.
    Unary(ValueId),
    /// Three-way comparison of two numbers.
    Compare(ValueId, ValueId),
    /// A call.
    Call(Box<Call>),
    /// An `invokedynamic`.
    DynamicCall(Box<DynamicCall>),
    /// Acquires a monitor.
    MonitorEnter(ValueId),
    /// Releases a monitor.
    MonitorExit(ValueId),
}

/// A call of a named method.
#[derive(Clone, Debug)]
pub struct Call {
    /// How it is dispatched.
    pub kind: InvokeKind,
    /// The class the call names: the static type of the receiver.
    pub class: ClassId,
    /// The method that the name resolves to there, before dispatch.
    pub method: MethodId,
    /// The arguments, the receiver first.
    pub arguments: Vec<ValueId>,
}

/// An `invokedynamic`, by what its bootstrap method makes of it.
#[derive(Clone, Debug)]
pub struct DynamicCall {
    /// What it does.
    pub target: DynamicTarget,
    /// The operands: captured values, or the parts of a string.
    pub arguments: Vec<ValueId>,
}

/// What the bootstrap method of an `invokedynamic` is known to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DynamicTarget {
    /// Creates a lambda or method reference that captures the arguments.
    Lambda(LambdaId),
    /// Concatenates strings (`StringConcatFactory`).
    StringConcatenation,
    /// `toString`, `hashCode` or `equals` of a record (`ObjectMethods`).
    RecordMethod,
    /// A pattern or enum switch (`SwitchBootstraps`).
    PatternSwitch,
    /// Anything else; the bootstrap method's name.
    Unknown(Arc<str>),
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// Goes on at another block.
    Goto(BlockId),
    /// Decides between two blocks.
    Branch {
        /// The comparison.
        condition: Condition,
        /// What the second operand is.
        against: Against,
        /// First operand.
        left: ValueId,
        /// Second operand, unless it is zero or `null`.
        right: Option<ValueId>,
        /// Where to go when the comparison holds.
        then: BlockId,
        /// Where to go when it does not.
        otherwise: BlockId,
    },
    /// Decides among many blocks.
    Switch {
        /// What is switched on.
        value: ValueId,
        /// The cases.
        cases: Vec<(i32, BlockId)>,
        /// Where to go otherwise.
        default: BlockId,
    },
    /// Returns from the method.
    Return(Option<ValueId>),
    /// Throws an exception; the handlers of the block, if any, may catch it.
    Throw(ValueId),
}

impl Terminator {
    /// The blocks that control may go to, exceptions aside; may repeat.
    pub fn successors(&self) -> impl Iterator<Item = BlockId> + '_ {
        let (fixed, cases): ([Option<BlockId>; 2], &[(i32, BlockId)]) = match self {
            Terminator::Goto(target) => ([Some(*target), None], &[]),
            Terminator::Branch { then, otherwise, .. } => ([Some(*then), Some(*otherwise)], &[]),
            Terminator::Switch { cases, default, .. } => ([Some(*default), None], cases),
            Terminator::Return(_) | Terminator::Throw(_) => ([None, None], &[]),
        };
        fixed.into_iter().flatten().chain(cases.iter().map(|(_, target)| *target))
    }

    /// The values it reads.
    pub fn operands(&self) -> impl Iterator<Item = ValueId> + '_ {
        match self {
            Terminator::Goto(_) => [None, None],
            Terminator::Branch { left, right, .. } => [Some(*left), *right],
            Terminator::Switch { value, .. } | Terminator::Throw(value) => [Some(*value), None],
            Terminator::Return(value) => [*value, None],
        }
        .into_iter()
        .flatten()
    }
}

/// Visits every value an operation reads; by reference or, with `iter_mut`, changeably.
macro_rules! visit_operands {
    ($operation:expr, $visit:expr, $iter:ident) => {
        match $operation {
            Operation::Constant(_) | Operation::GetStatic(_) | Operation::New(_) => {}
            Operation::GetField { object, .. } => ($visit)(object),
            Operation::PutField { object, value, .. } => {
                ($visit)(object);
                ($visit)(value);
            }
            Operation::PutStatic { value, .. }
            | Operation::Cast { value, .. }
            | Operation::InstanceOf { value, .. }
            | Operation::ArrayLength(value)
            | Operation::Unary(value)
            | Operation::MonitorEnter(value)
            | Operation::MonitorExit(value) => ($visit)(value),
            Operation::ArrayLoad { array, index, .. } => {
                ($visit)(array);
                ($visit)(index);
            }
            Operation::ArrayStore { array, index, value } => {
                ($visit)(array);
                ($visit)(index);
                ($visit)(value);
            }
            Operation::NewArray { lengths, .. } => lengths.$iter().for_each($visit),
            Operation::Binary { left, right, .. } | Operation::Compare(left, right) => {
                ($visit)(left);
                ($visit)(right);
            }
            Operation::Call(call) => call.arguments.$iter().for_each($visit),
            Operation::DynamicCall(call) => call.arguments.$iter().for_each($visit),
        }
    };
}

impl Operation {
    /// Calls `visit` for every value the operation reads.
    pub fn for_each_operand(&self, mut visit: impl FnMut(ValueId)) {
        let mut visit = |value: &ValueId| visit(*value);
        visit_operands!(self, &mut visit, iter);
    }

    /// Replaces every value the operation reads.
    fn rename_operands(&mut self, rename: impl Fn(ValueId) -> ValueId) {
        let mut change = |value: &mut ValueId| *value = rename(*value);
        visit_operands!(self, &mut change, iter_mut);
    }

    /// Whether it can raise an exception; see
    /// [`classes::bytecode::Instruction::may_throw`].
    #[must_use]
    pub fn may_throw(&self) -> bool {
        match self {
            Operation::Constant(_)
            | Operation::Unary(_)
            | Operation::Compare(..)
            | Operation::InstanceOf { .. } => false,
            Operation::Binary { op, .. } => matches!(op, BinaryOp::Div | BinaryOp::Rem),
            Operation::GetField { .. }
            | Operation::PutField { .. }
            | Operation::GetStatic(_)
            | Operation::PutStatic { .. }
            | Operation::ArrayLoad { .. }
            | Operation::ArrayStore { .. }
            | Operation::ArrayLength(_)
            | Operation::New(_)
            | Operation::NewArray { .. }
            | Operation::Cast { .. }
            | Operation::Call(_)
            | Operation::DynamicCall(_)
            | Operation::MonitorEnter(_)
            | Operation::MonitorExit(_) => true,
        }
    }
}

/// What the code declares of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredType {
    /// It is of this class or a subtype, or null.
    Class(ClassId),
    /// It is an array.
    Array,
    /// Nothing is declared, or it is no reference.
    Unknown,
}

impl Body {
    /// The instruction that defines a value, if an instruction does.
    #[must_use]
    pub fn defining_instruction(&self, value: ValueId) -> Option<&Instruction> {
        match self.definitions[value] {
            Definition::Instruction(block, position) => {
                self.blocks[block].instructions.get(position as usize)
            }
            Definition::Parameter(_)
            | Definition::Phi(_)
            | Definition::Caught(_)
            | Definition::Removed => None,
        }
    }

    /// Follows casts back to the value that was cast: it is the same object.
    #[must_use]
    pub fn without_casts(&self, mut value: ValueId) -> ValueId {
        while let Some(Instruction { operation: Operation::Cast { value: inner, .. }, .. }) =
            self.defining_instruction(value)
        {
            value = *inner;
        }
        value
    }

    /// For every block whether control can come back to it.
    #[must_use]
    pub fn blocks_in_loops(&self) -> TypedVec<BlockId, bool> {
        let successors = |block: BlockId| {
            let block = &self.blocks[block];
            let handlers = block.handlers.iter().map(|handler| handler.target);
            block.terminator.successors().chain(handlers).map(Id::index).collect::<Vec<usize>>()
        };
        let edges: Vec<Vec<usize>> = self.blocks.ids().map(successors).collect();
        let mut in_loop = TypedVec::filled(false, edges.len());
        for component in summaries::components(&edges) {
            let is_loop = component.len() > 1 || edges[component[0]].contains(&component[0]);
            for block in component {
                in_loop[BlockId::new(block)] = is_loop;
            }
        }
        in_loop
    }

    /// Whether a value is `this`, also seen as another class.
    #[must_use]
    pub fn is_receiver(&self, program: &Program, value: ValueId) -> bool {
        !program.methods[self.method].is_static()
            && self.parameters.first() == Some(&self.without_casts(value))
    }

    /// What is declared of a value where it is defined: the type of the parameter, field or result
    /// it is read from, the class it is cast to or created as.
    #[must_use]
    pub fn declared_type(&self, program: &Program, value: ValueId) -> DeclaredType {
        let of_descriptor = |descriptor: &str| match descriptor.as_bytes().first() {
            Some(b'L') => {
                let name = &descriptor[1..descriptor.len() - 1];
                program.class_named(name).map_or(DeclaredType::Unknown, DeclaredType::Class)
            }
            Some(b'[') => DeclaredType::Array,
            _ => DeclaredType::Unknown,
        };
        match self.definitions[value] {
            Definition::Parameter(number) => {
                let method = &program.methods[self.method];
                let Some(number) = number.checked_sub(u16::from(!method.is_static())) else {
                    return DeclaredType::Class(method.class);
                };
                parameter_descriptors(&method.descriptor)
                    .nth(usize::from(number))
                    .map_or(DeclaredType::Unknown, of_descriptor)
            }
            Definition::Phi(_) | Definition::Caught(_) | Definition::Removed => {
                DeclaredType::Unknown
            }
            Definition::Instruction(..) => {
                let Some(instruction) = self.defining_instruction(value) else {
                    return DeclaredType::Unknown;
                };
                match &instruction.operation {
                    Operation::GetField { field, .. } | Operation::GetStatic(field) => {
                        of_descriptor(&program.fields[*field].descriptor)
                    }
                    Operation::New(class) => DeclaredType::Class(*class),
                    Operation::NewArray { .. } => DeclaredType::Array,
                    Operation::Cast { value, class } => match class {
                        // A cast to an interface or an unchecked one may say less than what is
                        // known already.
                        Some(class) => match self.declared_type(program, *value) {
                            DeclaredType::Class(known)
                                if program.hierarchy.is_subtype(known, *class) =>
                            {
                                DeclaredType::Class(known)
                            }
                            _ => DeclaredType::Class(*class),
                        },
                        None => DeclaredType::Array,
                    },
                    Operation::Constant(Constant::Class(_)) => program
                        .class_named(language::CLASS)
                        .map_or(DeclaredType::Unknown, DeclaredType::Class),
                    Operation::Constant(Constant::String(_)) => program
                        .class_named(language::STRING)
                        .map_or(DeclaredType::Unknown, DeclaredType::Class),
                    Operation::Call(call) => {
                        let descriptor = &program.methods[call.method].descriptor;
                        let result = descriptor.rfind(')').map(|at| &descriptor[at + 1..]);
                        result.map_or(DeclaredType::Unknown, of_descriptor)
                    }
                    _ => DeclaredType::Unknown,
                }
            }
        }
    }

    /// All instructions, block by block.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks.iter().flat_map(|block| block.instructions.iter())
    }
}
