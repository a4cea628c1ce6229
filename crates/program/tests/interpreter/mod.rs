//! Executes bodies in SSA form, as a second opinion on what they mean.
//!
//! It knows numbers, arrays of numbers, objects with fields, calls, exceptions and monitors; what
//! else a body does is a panic. Operations that the IR leaves out, since no analysis needs them (which
//! conversion a conversion is), are looked up in the bytecode by the offset of the instruction.
//!
//! Three things are checked on the way: a value is never read where it is not set, every monitor that
//! a call enters it also leaves, and the monitors held at the start of each block are those that
//! `monitor_regions` promises.

#![allow(dead_code, reason = "each test uses the part it needs")]

use std::collections::HashMap;
use std::sync::Arc;

use classes::bytecode::{Against, BinaryOp, Condition, InvokeKind, Kind, Literal};
use classes::{ClassFile, MethodInfo, PoolIndex};
use program::ids::Id;
use program::ir::{
    Block, Body, Call, Constant, Instruction, MonitorRegions, Operation, Terminator,
    monitor_regions,
};
use program::{BlockId, ClassId, FieldId, MethodId, Origin, Program, ValueId};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Null,
    Object(usize),
    Class(ClassId),
    /// A return address of a subroutine, or another constant that nothing may look into.
    Opaque,
}

#[derive(Debug)]
enum HeapObject {
    Instance {
        class: ClassId,
        fields: HashMap<FieldId, Value>,
    },
    Array {
        element: ElementType,
        values: Vec<Value>,
    },
    /// An exception of the virtual machine whose class the program never names.
    Unnamed(&'static str),
}

/// What an array holds; small integers are cut to size when they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementType {
    Boolean,
    Char,
    Float,
    Double,
    Byte,
    Short,
    Int,
    Long,
    Reference,
}

impl ElementType {
    fn of_code(code: u8) -> ElementType {
        match code {
            4 => ElementType::Boolean,
            5 => ElementType::Char,
            6 => ElementType::Float,
            7 => ElementType::Double,
            8 => ElementType::Byte,
            9 => ElementType::Short,
            10 => ElementType::Int,
            11 => ElementType::Long,
            _ => panic!("no primitive type has code {code}"),
        }
    }

    fn of_descriptor(descriptor: &str) -> ElementType {
        match descriptor.as_bytes()[0] {
            b'Z' => ElementType::Boolean,
            b'C' => ElementType::Char,
            b'F' => ElementType::Float,
            b'D' => ElementType::Double,
            b'B' => ElementType::Byte,
            b'S' => ElementType::Short,
            b'I' => ElementType::Int,
            b'J' => ElementType::Long,
            _ => ElementType::Reference,
        }
    }

    fn zero(self) -> Value {
        match self {
            ElementType::Float => Value::Float(0.0),
            ElementType::Double => Value::Double(0.0),
            ElementType::Long => Value::Long(0),
            ElementType::Reference => Value::Null,
            ElementType::Boolean
            | ElementType::Char
            | ElementType::Byte
            | ElementType::Short
            | ElementType::Int => Value::Int(0),
        }
    }

    fn cut(self, value: Value) -> Value {
        match (self, value) {
            (ElementType::Boolean, Value::Int(number)) => Value::Int(number & 1),
            (ElementType::Char, Value::Int(number)) => Value::Int(i32::from(number as u16)),
            (ElementType::Byte, Value::Int(number)) => Value::Int(i32::from(number as i8)),
            (ElementType::Short, Value::Int(number)) => Value::Int(i32::from(number as i16)),
            _ => value,
        }
    }
}

/// An exception on its way up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thrown(Value);

type Outcome<T> = Result<T, Thrown>;

/// One run of a program: its heap and its static fields.
pub(crate) struct Interpreter<'a> {
    program: &'a Program,
    heap: Vec<HeapObject>,
    statics: HashMap<FieldId, Value>,
    regions: HashMap<MethodId, Arc<MonitorRegions>>,
    /// How many monitors were entered, so that a test can check that it tested something.
    pub(crate) monitors_entered: usize,
    steps_left: u64,
}

/// The call that is being executed.
struct Activation<'a> {
    body: &'a Body,
    file: &'a ClassFile,
    code: &'a [u8],
    values: Vec<Option<Value>>,
    held: Vec<Value>,
}

impl Activation<'_> {
    fn read(&self, value: ValueId) -> Value {
        self.values[value.index()].unwrap_or_else(|| panic!("{value} is read and not set"))
    }

    fn int(&self, value: ValueId) -> i32 {
        match self.read(value) {
            Value::Int(number) => number,
            other => panic!("{value} should be an int and is {other:?}"),
        }
    }

    fn opcode(&self, instruction: &Instruction) -> u8 {
        self.code[instruction.offset as usize]
    }

    fn pool_index(&self, instruction: &Instruction) -> PoolIndex {
        let at = instruction.offset as usize + 1;
        PoolIndex(u16::from_be_bytes([self.code[at], self.code[at + 1]]))
    }
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(program: &'a Program) -> Interpreter<'a> {
        Interpreter {
            program,
            heap: Vec::new(),
            statics: HashMap::new(),
            regions: HashMap::new(),
            monitors_entered: 0,
            steps_left: 50_000_000,
        }
    }

    pub(crate) fn static_field(&self, field: FieldId) -> Value {
        let zero = || ElementType::of_descriptor(&self.program.fields[field].descriptor).zero();
        self.statics.get(&field).copied().unwrap_or_else(zero)
    }

    pub(crate) fn set_static(&mut self, field: FieldId, value: Value) {
        self.statics.insert(field, value);
    }

    /// A new object whose constructor has not run.
    pub(crate) fn allocate(&mut self, class: ClassId) -> Value {
        self.push(HeapObject::Instance { class, fields: HashMap::new() })
    }

    /// The dotted name of the class of an exception.
    pub(crate) fn class_of_thrown(&self, thrown: Thrown) -> String {
        match thrown.0 {
            Value::Object(at) => match &self.heap[at] {
                HeapObject::Instance { class, .. } => self.program.classes[*class].dotted_name(),
                HeapObject::Unnamed(name) => name.replace('/', "."),
                HeapObject::Array { .. } => panic!("an array was thrown"),
            },
            other => panic!("{other:?} was thrown"),
        }
    }

    fn push(&mut self, object: HeapObject) -> Value {
        self.heap.push(object);
        Value::Object(self.heap.len() - 1)
    }

    fn raise<T>(&mut self, class: &'static str) -> Outcome<T> {
        let exception = match self.program.class_named(class) {
            Some(class) => self.allocate(class),
            None => self.push(HeapObject::Unnamed(class)),
        };
        Err(Thrown(exception))
    }

    fn object(&mut self, value: Value) -> Outcome<usize> {
        match value {
            Value::Object(at) => Ok(at),
            Value::Null => self.raise("java/lang/NullPointerException"),
            other => panic!("{other:?} is not an object with content"),
        }
    }

    fn is_instance(&self, value: Value, of: Option<ClassId>) -> bool {
        let Some(of) = of else { panic!("tests of array classes are not generated") };
        match value {
            Value::Object(at) => match &self.heap[at] {
                HeapObject::Instance { class, .. } => self.program.hierarchy.is_subtype(*class, of),
                HeapObject::Array { .. } | HeapObject::Unnamed(_) => false,
            },
            _ => false,
        }
    }

    /// Calls a method with all its arguments, the receiver first.
    pub(crate) fn call(&mut self, method: MethodId, arguments: &[Value]) -> Outcome<Option<Value>> {
        let program = self.program;
        let label = || program.method_label(method);
        let body = program.body(method).unwrap_or_else(|| panic!("{} has no body", label()));
        let (file, info) = class_file_of(program, method);
        let code = file.code_bytes(info.code.as_ref().unwrap());
        let regions =
            self.regions.entry(method).or_insert_with(|| Arc::new(monitor_regions(body))).clone();
        assert_eq!(regions.unstructured_at, None, "{}", label());
        let mut activation = Activation {
            body,
            file,
            code,
            values: vec![None; body.definitions.len()],
            held: Vec::new(),
        };
        assert_eq!(body.parameters.len(), arguments.len(), "{}", label());
        for (parameter, argument) in body.parameters.iter().zip(arguments) {
            activation.values[parameter.index()] = Some(*argument);
        }
        let mut at = BlockId::new(0);
        let outcome = loop {
            let block = &body.blocks[at];
            self.steps_left = self.steps_left.checked_sub(1).expect("a run ends");
            let promised = regions.held_at_start[at].as_ref().expect("control gets here");
            let promised: Vec<Value> =
                promised.iter().map(|held| activation.read(held.object)).collect();
            assert_eq!(promised, activation.held, "monitors at {at} of {}", label());
            let step = self.execute(block, &mut activation);
            let (next, caught) = match step {
                Ok(Step::Goto(next)) => (next, None),
                Ok(Step::Return(value)) => break Ok(value),
                Err(thrown) => {
                    let handler = block.handlers.iter().find(|handler| {
                        handler.catches.is_none_or(|class| self.is_instance(thrown.0, Some(class)))
                    });
                    match handler {
                        Some(handler) => (handler.target, Some(thrown.0)),
                        None => break Err(thrown),
                    }
                }
            };
            enter(&mut activation, at, next, caught);
            at = next;
        };
        assert!(activation.held.is_empty(), "{} keeps {:?}", label(), activation.held);
        outcome
    }

    fn execute(&mut self, block: &Block, activation: &mut Activation<'_>) -> Outcome<Step> {
        for instruction in &block.instructions {
            let value = self.instruction(instruction, activation)?;
            assert_eq!(value.is_some(), instruction.result.is_some(), "{instruction:?}");
            if let Some(result) = instruction.result {
                activation.values[result.index()] = value;
            }
        }
        Ok(match &block.terminator {
            Terminator::Goto(to) => Step::Goto(*to),
            Terminator::Branch { condition, against, left, right, then, otherwise } => {
                let left = activation.read(*left);
                let right = match against {
                    Against::Zero => Value::Int(0),
                    Against::Null => Value::Null,
                    Against::Int | Against::Ref => activation.read(right.unwrap()),
                };
                Step::Goto(if holds(*condition, left, right) { *then } else { *otherwise })
            }
            Terminator::Switch { value, cases, default } => {
                let value = activation.int(*value);
                let found = cases.iter().find(|(case, _)| *case == value);
                Step::Goto(found.map_or(*default, |(_, target)| *target))
            }
            Terminator::Return(value) => Step::Return(value.map(|value| activation.read(value))),
            Terminator::Throw(value) => {
                let exception = activation.read(*value);
                self.object(exception)?;
                return Err(Thrown(exception));
            }
        })
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each kind of instruction")]
    fn instruction(
        &mut self,
        instruction: &Instruction,
        activation: &mut Activation<'_>,
    ) -> Outcome<Option<Value>> {
        Ok(match &instruction.operation {
            Operation::Constant(constant) => Some(match constant {
                Constant::Literal(Literal::Null) => Value::Null,
                Constant::Literal(Literal::Int(number)) => Value::Int(*number),
                Constant::Literal(Literal::Long(number)) => Value::Long(*number),
                Constant::Literal(Literal::Float(number)) => Value::Float(*number),
                Constant::Literal(Literal::Double(number)) => Value::Double(*number),
                Constant::Class(class) => Value::Class(*class),
                Constant::String(_) | Constant::Other => Value::Opaque,
            }),
            Operation::GetField { object, field } => {
                let at = self.object(activation.read(*object))?;
                let zero = ElementType::of_descriptor(&self.program.fields[*field].descriptor);
                match &self.heap[at] {
                    HeapObject::Instance { fields, .. } => {
                        Some(fields.get(field).copied().unwrap_or(zero.zero()))
                    }
                    other => panic!("{other:?} has no fields"),
                }
            }
            Operation::PutField { object, field, value } => {
                let value = activation.read(*value);
                let at = self.object(activation.read(*object))?;
                match &mut self.heap[at] {
                    HeapObject::Instance { fields, .. } => fields.insert(*field, value),
                    other => panic!("{other:?} has no fields"),
                };
                None
            }
            Operation::GetStatic(field) => Some(self.static_field(*field)),
            Operation::PutStatic { field, value } => {
                self.statics.insert(*field, activation.read(*value));
                None
            }
            Operation::ArrayLoad { array, index, kind } => {
                let value = *self.element(activation, *array, *index)?;
                assert_eq!(kind_of(value), *kind, "{instruction:?}");
                Some(value)
            }
            Operation::ArrayStore { array, index, value } => {
                let value = activation.read(*value);
                let element = match activation.read(*array) {
                    Value::Object(at) => match &self.heap[at] {
                        HeapObject::Array { element, .. } => *element,
                        other => panic!("{other:?} is no array"),
                    },
                    _ => ElementType::Reference,
                };
                *self.element(activation, *array, *index)? = element.cut(value);
                None
            }
            Operation::ArrayLength(array) => {
                let at = self.object(activation.read(*array))?;
                match &self.heap[at] {
                    HeapObject::Array { values, .. } => Some(Value::Int(values.len() as i32)),
                    other => panic!("{other:?} is no array"),
                }
            }
            Operation::New(class) => Some(self.allocate(*class)),
            Operation::NewArray { lengths, .. } => {
                let lengths: Vec<i32> =
                    lengths.iter().map(|length| activation.int(*length)).collect();
                if lengths.iter().any(|length| *length < 0) {
                    return self.raise("java/lang/NegativeArraySizeException");
                }
                let element = match activation.opcode(instruction) {
                    0xbc => ElementType::of_code(activation.code[instruction.offset as usize + 1]),
                    0xbd => ElementType::Reference,
                    0xc5 => {
                        let index = activation.pool_index(instruction);
                        let class = activation.file.pool.class_name(index).unwrap();
                        ElementType::of_descriptor(&class[lengths.len()..])
                    }
                    opcode => panic!("opcode {opcode:#x} makes no array"),
                };
                Some(self.new_array(&lengths, element))
            }
            Operation::Cast { value, class } => {
                let value = activation.read(*value);
                if value != Value::Null && !self.is_instance(value, *class) {
                    return self.raise("java/lang/ClassCastException");
                }
                Some(value)
            }
            Operation::InstanceOf { value, class } => {
                let value = activation.read(*value);
                Some(Value::Int(i32::from(self.is_instance(value, *class))))
            }
            Operation::Binary { op, left, right } => {
                let (left, right) = (activation.read(*left), activation.read(*right));
                match binary(*op, left, right) {
                    Some(value) => Some(value),
                    None => return self.raise("java/lang/ArithmeticException"),
                }
            }
            Operation::Unary(value) => {
                Some(unary(activation.opcode(instruction), activation.read(*value)))
            }
            Operation::Compare(left, right) => {
                let (left, right) = (activation.read(*left), activation.read(*right));
                Some(Value::Int(compare(activation.opcode(instruction), left, right)))
            }
            Operation::Call(call) => {
                let result = self.invoke(call, activation)?;
                // A call whose result nothing wants still defines it.
                if instruction.result.is_some() { result } else { None }
            }
            Operation::DynamicCall(call) => panic!("{:?} is not interpreted", call.target),
            Operation::MonitorEnter(object) => {
                let object = activation.read(*object);
                if object == Value::Null {
                    return self.raise("java/lang/NullPointerException");
                }
                self.monitors_entered += 1;
                activation.held.push(object);
                None
            }
            Operation::MonitorExit(object) => {
                let object = activation.read(*object);
                let held = activation.held.iter().rposition(|held| *held == object);
                activation.held.remove(held.expect("a monitor is left that is held"));
                None
            }
        })
    }

    fn element(
        &mut self,
        activation: &Activation<'_>,
        array: ValueId,
        index: ValueId,
    ) -> Outcome<&mut Value> {
        let index = activation.int(index);
        let at = self.object(activation.read(array))?;
        let length = match &self.heap[at] {
            HeapObject::Array { values, .. } => values.len(),
            other => panic!("{other:?} is no array"),
        };
        if usize::try_from(index).is_ok_and(|index| index >= length) || index < 0 {
            return self.raise("java/lang/ArrayIndexOutOfBoundsException");
        }
        match &mut self.heap[at] {
            HeapObject::Array { values, .. } => Ok(&mut values[index as usize]),
            other => panic!("{other:?} is no array"),
        }
    }

    fn new_array(&mut self, lengths: &[i32], element: ElementType) -> Value {
        let (length, inner) = lengths.split_first().expect("an array has a dimension");
        let values: Vec<Value> = if inner.is_empty() {
            vec![element.zero(); *length as usize]
        } else {
            (0..*length).map(|_| self.new_array(inner, element)).collect()
        };
        let element = if inner.is_empty() { element } else { ElementType::Reference };
        self.push(HeapObject::Array { element, values })
    }

    fn invoke(&mut self, call: &Call, activation: &Activation<'_>) -> Outcome<Option<Value>> {
        let arguments: Vec<Value> =
            call.arguments.iter().map(|argument| activation.read(*argument)).collect();
        let method = match call.kind {
            InvokeKind::Static => call.method,
            InvokeKind::Special => {
                self.object(arguments[0])?;
                call.method
            }
            InvokeKind::Virtual | InvokeKind::Interface => {
                let at = self.object(arguments[0])?;
                let HeapObject::Instance { class, .. } = &self.heap[at] else {
                    panic!("arrays have no methods here")
                };
                let selector = self.program.methods[call.method].selector;
                let found = self.program.hierarchy.dispatch(*class, selector);
                found.expect("a method that compiled is implemented")
            }
        };
        let is_library = self.program.class_of(method).origin != Origin::Application;
        if is_library && &*self.program.methods[method].name == "<init>" {
            // Constructors of `Object` and of exceptions do nothing that can be seen here.
            return Ok(None);
        }
        self.call(method, &arguments)
    }
}

enum Step {
    Goto(BlockId),
    Return(Option<Value>),
}

/// Defines what is defined on entering a block: all phis at once, and the exception.
fn enter(activation: &mut Activation<'_>, from: BlockId, to: BlockId, caught: Option<Value>) {
    let block = &activation.body.blocks[to];
    let position = block
        .predecessors
        .iter()
        .position(|predecessor| *predecessor == from)
        .unwrap_or_else(|| panic!("{from} is no predecessor of {to}"));
    let inputs: Vec<Option<Value>> = block
        .phis
        .iter()
        .map(|phi| phi.inputs[position].map(|input| activation.read(input)))
        .collect();
    for (phi, input) in block.phis.iter().zip(inputs) {
        activation.values[phi.result.index()] = input;
    }
    assert_eq!(caught.is_some(), block.caught.is_some(), "{from} to {to}");
    if let Some(result) = block.caught {
        activation.values[result.index()] = caught;
    }
}

fn class_file_of(program: &Program, method: MethodId) -> (&ClassFile, &MethodInfo) {
    let declared = &program.methods[method];
    let file = program.class_of(method).file.as_deref().expect("a method with a body has a file");
    let info = file
        .methods
        .iter()
        .find(|info| info.name == declared.name && info.descriptor == declared.descriptor)
        .expect("the class file declares the method");
    (file, info)
}

fn kind_of(value: Value) -> Kind {
    match value {
        Value::Int(_) => Kind::Int,
        Value::Long(_) => Kind::Long,
        Value::Float(_) => Kind::Float,
        Value::Double(_) => Kind::Double,
        Value::Null | Value::Object(_) | Value::Class(_) | Value::Opaque => Kind::Ref,
    }
}

fn holds(condition: Condition, left: Value, right: Value) -> bool {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => match condition {
            Condition::Eq => left == right,
            Condition::Ne => left != right,
            Condition::Lt => left < right,
            Condition::Ge => left >= right,
            Condition::Gt => left > right,
            Condition::Le => left <= right,
        },
        _ => {
            assert!(kind_of(left) == Kind::Ref && kind_of(right) == Kind::Ref);
            match condition {
                Condition::Eq => left == right,
                Condition::Ne => left != right,
                Condition::Lt | Condition::Ge | Condition::Gt | Condition::Le => {
                    panic!("references have no order")
                }
            }
        }
    }
}

/// The result of an operation; nothing when it divides by zero.
fn binary(op: BinaryOp, left: Value, right: Value) -> Option<Value> {
    Some(match (left, right) {
        (Value::Int(left), Value::Int(right)) => Value::Int(match op {
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Sub => left.wrapping_sub(right),
            BinaryOp::Mul => left.wrapping_mul(right),
            BinaryOp::Div if right == 0 => return None,
            BinaryOp::Div => left.wrapping_div(right),
            BinaryOp::Rem if right == 0 => return None,
            BinaryOp::Rem => left.wrapping_rem(right),
            BinaryOp::Shl => left.wrapping_shl(right as u32),
            BinaryOp::Shr => left.wrapping_shr(right as u32),
            BinaryOp::Ushr => (left as u32).wrapping_shr(right as u32) as i32,
            BinaryOp::And => left & right,
            BinaryOp::Or => left | right,
            BinaryOp::Xor => left ^ right,
        }),
        (Value::Long(left), Value::Int(right)) => Value::Long(match op {
            BinaryOp::Shl => left.wrapping_shl(right as u32),
            BinaryOp::Shr => left.wrapping_shr(right as u32),
            BinaryOp::Ushr => (left as u64).wrapping_shr(right as u32) as i64,
            _ => panic!("{op:?} of a long and an int"),
        }),
        (Value::Long(left), Value::Long(right)) => Value::Long(match op {
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Sub => left.wrapping_sub(right),
            BinaryOp::Mul => left.wrapping_mul(right),
            BinaryOp::Div if right == 0 => return None,
            BinaryOp::Div => left.wrapping_div(right),
            BinaryOp::Rem if right == 0 => return None,
            BinaryOp::Rem => left.wrapping_rem(right),
            BinaryOp::And => left & right,
            BinaryOp::Or => left | right,
            BinaryOp::Xor => left ^ right,
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Ushr => panic!("{op:?} of two longs"),
        }),
        (Value::Float(left), Value::Float(right)) => Value::Float(match op {
            BinaryOp::Add => left + right,
            BinaryOp::Sub => left - right,
            BinaryOp::Mul => left * right,
            BinaryOp::Div => left / right,
            BinaryOp::Rem => left % right,
            _ => panic!("{op:?} of floats"),
        }),
        (Value::Double(left), Value::Double(right)) => Value::Double(match op {
            BinaryOp::Add => left + right,
            BinaryOp::Sub => left - right,
            BinaryOp::Mul => left * right,
            BinaryOp::Div => left / right,
            BinaryOp::Rem => left % right,
            _ => panic!("{op:?} of doubles"),
        }),
        _ => panic!("{op:?} of {left:?} and {right:?}"),
    })
}

/// Negations and conversions, by the opcode that stands in the class file.
fn unary(opcode: u8, value: Value) -> Value {
    match (opcode, value) {
        (0x74, Value::Int(number)) => Value::Int(number.wrapping_neg()),
        (0x75, Value::Long(number)) => Value::Long(number.wrapping_neg()),
        (0x76, Value::Float(number)) => Value::Float(-number),
        (0x77, Value::Double(number)) => Value::Double(-number),
        (0x85, Value::Int(number)) => Value::Long(i64::from(number)),
        (0x86, Value::Int(number)) => Value::Float(number as f32),
        (0x87, Value::Int(number)) => Value::Double(f64::from(number)),
        (0x88, Value::Long(number)) => Value::Int(number as i32),
        (0x89, Value::Long(number)) => Value::Float(number as f32),
        (0x8a, Value::Long(number)) => Value::Double(number as f64),
        (0x8b, Value::Float(number)) => Value::Int(number as i32),
        (0x8c, Value::Float(number)) => Value::Long(number as i64),
        (0x8d, Value::Float(number)) => Value::Double(f64::from(number)),
        (0x8e, Value::Double(number)) => Value::Int(number as i32),
        (0x8f, Value::Double(number)) => Value::Long(number as i64),
        (0x90, Value::Double(number)) => Value::Float(number as f32),
        (0x91, Value::Int(number)) => Value::Int(i32::from(number as i8)),
        (0x92, Value::Int(number)) => Value::Int(i32::from(number as u16)),
        (0x93, Value::Int(number)) => Value::Int(i32::from(number as i16)),
        _ => panic!("opcode {opcode:#x} of {value:?}"),
    }
}

/// `lcmp`, `fcmpl` and the others: -1, 0 or 1; the opcode decides what comes of no order at all.
fn compare(opcode: u8, left: Value, right: Value) -> i32 {
    let order = match (left, right) {
        (Value::Long(left), Value::Long(right)) => Some(left.cmp(&right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(&right),
        (Value::Double(left), Value::Double(right)) => left.partial_cmp(&right),
        _ => panic!("{left:?} is compared with {right:?}"),
    };
    match (order, opcode) {
        (Some(order), _) => order as i32,
        (None, 0x95 | 0x97) => -1,
        (None, _) => 1,
    }
}
