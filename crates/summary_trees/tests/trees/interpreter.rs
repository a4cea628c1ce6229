//! A plain interpreter of bytecode, which shares nothing with what it is compared with but the decoder.
//!
//! Calls do nothing and return the object 0. An exception ends the execution.

use std::collections::HashMap;

use classes::bytecode::{
    Against, BinaryOp, Condition, Instruction, InvokeKind, Literal, StackOp, decode_all,
};
use classes::{ClassFile, Code, Constant, descriptor};
use summary_trees::Way;

/// A number of an object.
pub(crate) type ObjectId = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Int(i32),
    Null,
    Object(ObjectId),
}

/// Where a value is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Variable {
    Field(ObjectId, String),
    Static(String),
    Element(ObjectId, i32),
}

/// What others can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Visible {
    Read(Variable),
    Write(Variable),
    Enter(Option<ObjectId>),
    Exit(Option<ObjectId>),
    Call(String),
}

/// What an execution did, in order.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// With its offset, and whether it stores a reference.
    Visible(u32, Visible, bool),
    Decision(u32, Way),
    New(u32, ObjectId),
}

/// Why an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Return,
    Throw,
    /// Where the caller wanted it to.
    Stopped,
    /// It would do something visible behind a monitor that was entered before it began.
    Outside,
    /// A null reference, or too many instructions.
    Failed,
}

/// Objects and what they hold; what was never written is null or 0.
#[derive(Clone, Default)]
pub(crate) struct Heap {
    pub(crate) values: HashMap<Variable, Value>,
    pub(crate) count: usize,
}

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) heap: Heap,
    pub(crate) locals: Vec<Value>,
    stack: Vec<Value>,
    /// The position of the next instruction.
    at: usize,
    /// The monitors that were entered since the events were last taken.
    entered: usize,
    is_outside: bool,
    pub(crate) events: Vec<Event>,
}

pub(crate) struct Interpreter<'a> {
    class: &'a ClassFile,
    instructions: Vec<(u32, Instruction)>,
    /// Fields that are final: no events.
    finals: [&'static str; 2],
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(class: &'a ClassFile, code: &Code) -> Interpreter<'a> {
        let instructions = decode_all(class.code_bytes(code)).unwrap();
        Interpreter { class, instructions, finals: ["fixed", "number"] }
    }

    pub(crate) fn start(&self, heap: Heap, locals: Vec<Value>) -> State {
        State {
            heap,
            locals,
            stack: Vec::new(),
            at: 0,
            entered: 0,
            is_outside: false,
            events: Vec::new(),
        }
    }

    pub(crate) fn offset(&self, state: &State) -> u32 {
        self.instructions[state.at].0
    }

    /// What is returned, at the end of an execution that returns.
    pub(crate) fn result(&self, state: &State) -> Option<Value> {
        state.stack.last().copied()
    }

    pub(crate) fn at_decision(&self, state: &State) -> bool {
        matches!(
            self.instructions[state.at].1,
            Instruction::Branch { .. } | Instruction::Switch { .. }
        )
    }

    /// Begins a new list of events.
    pub(crate) fn forget_events(&self, state: &mut State) {
        state.events.clear();
        state.entered = 0;
        state.is_outside = false;
    }

    /// Executes the branch at which the state is, the way it wants or the way that is asked for.
    pub(crate) fn decide(&self, state: &mut State, forced: Option<Way>) -> Way {
        let (offset, instruction) = &self.instructions[state.at];
        let (way, target) = match instruction {
            Instruction::Branch { condition, against, target } => {
                let right = match against {
                    Against::Zero => Value::Int(0),
                    Against::Null => Value::Null,
                    Against::Int | Against::Ref => state.stack.pop().unwrap(),
                };
                let left = state.stack.pop().unwrap();
                let holds = match (left, right) {
                    (Value::Int(left), Value::Int(right)) => match condition {
                        Condition::Eq => left == right,
                        Condition::Ne => left != right,
                        Condition::Lt => left < right,
                        Condition::Ge => left >= right,
                        Condition::Gt => left > right,
                        Condition::Le => left <= right,
                    },
                    _ => (left == right) == (*condition == Condition::Eq),
                };
                let way = forced.unwrap_or(if holds { Way::Taken } else { Way::NotTaken });
                (way, (way == Way::Taken).then_some(*target))
            }
            Instruction::Switch { default, cases } => {
                let Value::Int(value) = state.stack.pop().unwrap() else { panic!("an int") };
                let found = cases.iter().any(|(number, _)| *number == value);
                let way = forced.unwrap_or(if found { Way::Case(value) } else { Way::Default });
                let target = match way {
                    Way::Case(value) => {
                        cases.iter().find(|(number, _)| *number == value).unwrap().1
                    }
                    _ => *default,
                };
                (way, Some(target))
            }
            other => panic!("{other:?} decides nothing"),
        };
        state.events.push(Event::Decision(*offset, way));
        match target {
            Some(target) => self.jump(state, target),
            None => state.at += 1,
        }
        way
    }

    fn jump(&self, state: &mut State, target: u32) {
        state.at = self.instructions.binary_search_by_key(&target, |(at, _)| *at).unwrap();
    }

    fn member(&self, index: classes::PoolIndex) -> (String, String) {
        let member = self.class.pool.member_ref(index).unwrap();
        (member.name.to_string(), member.descriptor.to_string())
    }

    fn visible(&self, state: &mut State, what: Visible, stores: bool) -> Result<(), End> {
        if state.is_outside {
            return Err(End::Outside);
        }
        let offset = self.offset(state);
        state.events.push(Event::Visible(offset, what, stores));
        Ok(())
    }

    fn get(&self, state: &mut State, variable: Variable, descriptor: &str) -> Result<(), End> {
        let is_final =
            matches!(&variable, Variable::Field(_, name) if self.finals.contains(&name.as_str()));
        if !is_final {
            self.visible(state, Visible::Read(variable.clone()), false)?;
        }
        let initial = if descriptor.starts_with(['L', '[']) { Value::Null } else { Value::Int(0) };
        let value = state.heap.values.get(&variable).copied().unwrap_or(initial);
        state.stack.push(value);
        Ok(())
    }

    fn put(&self, state: &mut State, variable: Variable, value: Value) -> Result<(), End> {
        let stores = !matches!(value, Value::Int(_));
        self.visible(state, Visible::Write(variable.clone()), stores)?;
        state.heap.values.insert(variable, value);
        Ok(())
    }

    fn object(&self, state: &mut State) -> Result<ObjectId, End> {
        match state.stack.pop().unwrap() {
            Value::Object(object) => Ok(object),
            _ => Err(End::Failed),
        }
    }

    fn int(&self, state: &mut State) -> i32 {
        match state.stack.pop().unwrap() {
            Value::Int(number) => number,
            other => panic!("{other:?} is no number"),
        }
    }

    fn allocate(&self, state: &mut State) {
        let object = state.heap.count;
        state.heap.count += 1;
        let offset = self.offset(state);
        state.events.push(Event::New(offset, object));
        state.stack.push(Value::Object(object));
    }

    /// Executes one instruction that decides nothing.
    pub(crate) fn step(&self, state: &mut State) -> Result<(), End> {
        let (_, instruction) = &self.instructions[state.at];
        match instruction {
            Instruction::Nop | Instruction::CheckCast(_) => {}
            Instruction::Push(Literal::Int(number)) => state.stack.push(Value::Int(*number)),
            Instruction::Push(Literal::Null) => state.stack.push(Value::Null),
            Instruction::LoadConstant(index) => match self.class.pool.get(*index).unwrap() {
                Constant::Integer(number) => state.stack.push(Value::Int(number)),
                other => panic!("{other:?}"),
            },
            Instruction::Load { slot, .. } => state.stack.push(state.locals[usize::from(*slot)]),
            Instruction::Store { slot, .. } => {
                state.locals[usize::from(*slot)] = state.stack.pop().unwrap();
            }
            Instruction::Increment { slot, by } => {
                if let Value::Int(number) = &mut state.locals[usize::from(*slot)] {
                    *number = number.wrapping_add(i32::from(*by));
                }
            }
            Instruction::ArrayLoad(kind) => {
                let index = self.int(state);
                let array = self.object(state)?;
                let descriptor = if *kind == classes::bytecode::Kind::Ref { "L" } else { "I" };
                self.get(state, Variable::Element(array, index), descriptor)?;
            }
            Instruction::ArrayStore(_) => {
                let value = state.stack.pop().unwrap();
                let index = self.int(state);
                let array = self.object(state)?;
                self.put(state, Variable::Element(array, index), value)?;
            }
            Instruction::Stack(operation) => {
                let stack = &mut state.stack;
                let top = stack.pop().unwrap();
                match operation {
                    StackOp::Pop => {}
                    StackOp::Dup => stack.extend([top, top]),
                    StackOp::DupX1 => {
                        let below = stack.pop().unwrap();
                        stack.extend([top, below, top]);
                    }
                    StackOp::Dup2 => {
                        let below = stack.pop().unwrap();
                        stack.extend([below, top, below, top]);
                    }
                    StackOp::DupX2 => {
                        let (second, third) = (stack.pop().unwrap(), stack.pop().unwrap());
                        stack.extend([top, third, second, top]);
                    }
                    other => panic!("{other:?}"),
                }
            }
            Instruction::Binary { op, .. } => {
                let (right, left) = (self.int(state), self.int(state));
                state.stack.push(Value::Int(match op {
                    BinaryOp::Add => left.wrapping_add(right),
                    BinaryOp::Sub => left.wrapping_sub(right),
                    BinaryOp::And => left & right,
                    other => panic!("{other:?}"),
                }));
            }
            Instruction::GetStatic(index) => {
                let (name, descriptor) = self.member(*index);
                self.get(state, Variable::Static(name), &descriptor)?;
            }
            Instruction::PutStatic(index) => {
                let value = state.stack.pop().unwrap();
                self.put(state, Variable::Static(self.member(*index).0), value)?;
            }
            Instruction::GetField(index) => {
                let (name, descriptor) = self.member(*index);
                let object = self.object(state)?;
                self.get(state, Variable::Field(object, name), &descriptor)?;
            }
            Instruction::PutField(index) => {
                let value = state.stack.pop().unwrap();
                let object = self.object(state)?;
                self.put(state, Variable::Field(object, self.member(*index).0), value)?;
            }
            Instruction::Invoke { kind, method } => {
                let (name, descriptor) = self.member(*method);
                let types = descriptor::parse_method(&descriptor).unwrap();
                state.stack.truncate(state.stack.len() - types.params.len());
                if *kind != InvokeKind::Static {
                    self.object(state)?;
                }
                self.visible(state, Visible::Call(name), false)?;
                if types.ret.is_some() {
                    state.stack.push(Value::Object(0));
                }
            }
            Instruction::New(_) => self.allocate(state),
            Instruction::MonitorEnter => {
                let object = self.object(state)?;
                self.visible(state, Visible::Enter(Some(object)), false)?;
                state.entered += 1;
            }
            Instruction::MonitorExit => {
                let object = self.object(state)?;
                if state.entered == 0 {
                    state.is_outside = true;
                } else {
                    state.entered -= 1;
                    let offset = self.offset(state);
                    let exit = Visible::Exit(Some(object));
                    state.events.push(Event::Visible(offset, exit, false));
                }
            }
            Instruction::Goto(target) => {
                self.jump(state, *target);
                return Ok(());
            }
            Instruction::Return(_) => return Err(End::Return),
            Instruction::Throw => return Err(End::Throw),
            other => panic!("the generator writes no {other:?}"),
        }
        state.at += 1;
        Ok(())
    }
}
