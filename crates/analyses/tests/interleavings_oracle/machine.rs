//! A machine that executes bodies in SSA form with several threads, one step at a time.
//!
//! A step is one operation that other threads can notice (an access to a field that is not final, taking a
//! lock, waiting, waking others, waiting for the end of a thread) with everything after it that they cannot.
//! Giving a lock back and starting a thread belong to the step before: nobody is kept from anything if they
//! come earlier, so no race, no deadlock and no order of accesses is lost.
//!
//! It knows whole numbers, objects with fields, calls, lambdas, monitors, `ReentrantLock` and `Thread`;
//! what else a program does is a panic. No operation throws, and memory is sequentially consistent: a write
//! is seen by every read after it. Classes are initialised before `main` begins.

use std::collections::BTreeMap;

use classes::bytecode::{Against, BinaryOp, Condition, InvokeKind, Literal};
use program::ids::Id;
use program::ir::{self, Body, Constant, DynamicTarget, Instruction, Operation, Terminator};
use program::{BlockId, ClassId, FieldId, LambdaId, MethodId, Program, ValueId};

use crate::history::{History, Violation};

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    Unset,
    Int(i32),
    Null,
    Object(u32),
    Class(ClassId),
    /// A constant that nothing looks into.
    Opaque,
}

/// An object of the heap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Object {
    kind: ObjectKind,
    /// Fields that were written; the others are zero.
    fields: BTreeMap<FieldId, Value>,
    /// What a lambda captured, or the task that a thread was made for.
    parts: Vec<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ObjectKind {
    Instance(ClassId),
    Lambda(LambdaId),
}

/// A place in the code: a method and a bytecode offset. The lock of a synchronized method is taken at its
/// offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CodeLocation {
    pub(crate) method: MethodId,
    pub(crate) offset: u32,
}

/// A field of one object, or a static field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Variable {
    object: Option<u32>,
    pub(crate) field: FieldId,
}

/// A lock at run time: an object or class, and whether its monitor or the `ReentrantLock` that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lock {
    owner: Value,
    is_explicit: bool,
}

/// A part of an execution in which a thread holds a lock. A wait ends it, and being woken begins another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Section {
    pub(crate) lock: Lock,
    /// Where the lock was taken.
    pub(crate) taken_at: CodeLocation,
    /// Where the thread waited last, if it did.
    pub(crate) woken_at: Option<CodeLocation>,
}

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct LockHold {
    thread: usize,
    count: u32,
    section: Section,
}

/// A read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Access {
    pub(crate) variable: Variable,
    pub(crate) is_write: bool,
    pub(crate) place: CodeLocation,
}

/// What a thread does next, as far as others can notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Access(Access),
    /// Takes a lock, for the first time or again.
    Acquire(Lock, CodeLocation),
    /// Takes a lock if it is free.
    TryAcquire(Lock, CodeLocation),
    /// Gives a lock back and waits to be woken.
    Wait(Lock, CodeLocation),
    Notify {
        lock: Lock,
        all: bool,
    },
    /// Waits for the end of a thread; of none if it was never started.
    Join(Option<usize>),
    /// Sleeps until it is woken.
    Waiting(CodeLocation),
    /// Was woken, and needs its lock back.
    Wake(Lock, CodeLocation),
    Finished,
}

/// An open call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) method: MethodId,
    block: BlockId,
    /// The next instruction of the block; after the last one, its terminator.
    position: usize,
    values: Vec<Value>,
    /// The lock of a synchronized method, given back at its end.
    lock: Option<Lock>,
    /// The number of the first access that is made in this call.
    pub(crate) first_access: u32,
}

/// A call, distinguished from all others of its thread by where it was made: no method of a store is called in a
/// loop, and there is no recursion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) method: MethodId,
    /// The place in the caller.
    made_at: Option<(BlockId, usize)>,
}

/// Whether a thread runs or waits to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum WaitState {
    Running,
    Waiting(LockHold),
    Woken(LockHold),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    /// The object that was started; none for the first thread.
    object: Option<Value>,
    /// Outermost first; none when the thread is over.
    frames: Vec<Frame>,
    wait_state: WaitState,
}

/// The state at one point of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    heap: Vec<Object>,
    statics: BTreeMap<FieldId, Value>,
    locks: BTreeMap<Lock, LockHold>,
    threads: Vec<Thread>,
    history: History,
}

/// Executes one program.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
}

/// What a step leads to.
pub(crate) struct Outcome {
    /// One state, or one for each thread that a `notify` can wake.
    pub(crate) states: Vec<State>,
    /// The method that the step shows to be not atomic.
    pub(crate) violation: Option<Violation>,
}

/// Instructions between two steps of a thread; more are taken for an endless loop.
const MOST_INSTRUCTIONS: usize = 10_000;

impl State {
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// The thread that holds a lock.
    pub(crate) fn owner(&self, lock: Lock) -> Option<usize> {
        self.locks.get(&lock).map(|hold| hold.thread)
    }

    pub(crate) fn is_finished(&self, thread: usize) -> bool {
        self.threads[thread].frames.is_empty()
    }

    /// The lock that a sleeping thread gave back.
    pub(crate) fn awaited(&self, thread: usize) -> Option<Lock> {
        match self.threads[thread].wait_state {
            WaitState::Waiting(hold) => Some(hold.section.lock),
            WaitState::Running | WaitState::Woken(_) => None,
        }
    }

    /// The calls that a thread has open, outermost first.
    pub(crate) fn calls(&self, thread: usize) -> Vec<Call> {
        let frames = &self.threads[thread].frames;
        let callers = frames.iter().map(|frame| Some((frame.block, frame.position)));
        let made_at = std::iter::once(None).chain(callers);
        frames
            .iter()
            .zip(made_at)
            .map(|(frame, made_at)| Call { method: frame.method, made_at })
            .collect()
    }

    /// Whether static fields, or threads other than this one, lead to the object of a lock.
    pub(crate) fn is_known_to_others(&self, lock: Lock, thread: usize) -> bool {
        let others = self.threads.iter().enumerate().filter(|(number, _)| *number != thread);
        let mut known: Vec<Value> = self.statics.values().copied().collect();
        for (_, other) in others {
            known.extend(other.object);
            known.extend(other.frames.iter().flat_map(|frame| frame.values.iter().copied()));
        }
        let mut next = 0;
        while next < known.len() {
            if let Value::Object(at) = known[next] {
                let Object { fields, parts, .. } = &self.heap[at as usize];
                let reached = fields.values().chain(parts).copied();
                let new: Vec<Value> = reached.filter(|value| !known.contains(value)).collect();
                known.extend(new);
            }
            next += 1;
        }
        matches!(lock.owner, Value::Class(_)) || known.contains(&lock.owner)
    }

    /// Whether a thread can do its next step.
    pub(crate) fn is_enabled(&self, thread: usize, step: Step) -> bool {
        match step {
            Step::Access(_) | Step::TryAcquire(..) | Step::Wait(..) | Step::Notify { .. } => true,
            Step::Acquire(lock, _) | Step::Wake(lock, _) => {
                self.owner(lock).is_none_or(|owner| owner == thread)
            }
            Step::Join(awaited) => awaited.is_none_or(|awaited| self.is_finished(awaited)),
            Step::Waiting(_) | Step::Finished => false,
        }
    }

    /// What a thread holds.
    pub(crate) fn sections(&self, thread: usize) -> Vec<Section> {
        let held = self.locks.values().filter(|hold| hold.thread == thread);
        held.map(|hold| hold.section).collect()
    }

    fn acquire(&mut self, thread: usize, lock: Lock, taken_at: CodeLocation) {
        let section = Section { lock, taken_at, woken_at: None };
        let hold = self.locks.entry(lock).or_insert(LockHold { thread, count: 0, section });
        assert_eq!(hold.thread, thread, "a lock is taken that is free");
        hold.count += 1;
    }

    fn release(&mut self, thread: usize, lock: Lock) {
        let hold = self.locks.get_mut(&lock).expect("a lock is given back that is held");
        assert_eq!(hold.thread, thread, "a lock is given back by its owner");
        hold.count -= 1;
        if hold.count == 0 {
            self.locks.remove(&lock);
        }
    }

    fn allocate(&mut self, kind: ObjectKind, parts: Vec<Value>) -> Value {
        self.heap.push(Object { kind, fields: BTreeMap::new(), parts });
        Value::Object(u32::try_from(self.heap.len() - 1).expect("few objects"))
    }

    fn object(&self, value: Value) -> &Object {
        match value {
            Value::Object(at) => &self.heap[at as usize],
            other => panic!("{other:?} is not an object with content"),
        }
    }

    fn frame(&mut self, thread: usize) -> &mut Frame {
        self.threads[thread].frames.last_mut().expect("the thread runs")
    }
}

impl<'a> Machine<'a> {
    /// The state in which `main` has come to its first step.
    pub(crate) fn start(&self, main: MethodId) -> State {
        let mut state = State {
            heap: Vec::new(),
            statics: BTreeMap::new(),
            locks: BTreeMap::new(),
            threads: vec![Thread {
                object: None,
                frames: Vec::new(),
                wait_state: WaitState::Running,
            }],
            history: History::default(),
        };
        let program = self.program;
        let initializers = program.methods_with_bodies().filter(|method| {
            program.is_application(*method) && &*program.methods[*method].name == "<clinit>"
        });
        for initializer in initializers {
            self.enter(&mut state, 0, initializer, &[], None);
            self.advance(&mut state, 0);
            // Nobody else is there yet.
            while !state.is_finished(0) {
                state = self.perform(&state, 0).states.pop().expect("a step leads somewhere");
            }
        }
        self.enter(&mut state, 0, main, &[Value::Null], None);
        self.advance(&mut state, 0);
        state
    }

    fn body(&self, method: MethodId) -> &'a Body {
        let label = || self.program.method_label(method);
        self.program.body(method).unwrap_or_else(|| panic!("{} has no body", label()))
    }

    /// What a thread does next.
    pub(crate) fn next_step(&self, state: &State, thread: usize) -> Step {
        match state.threads[thread].wait_state {
            WaitState::Waiting(LockHold { section, .. }) => {
                return Step::Waiting(section.woken_at.unwrap_or(section.taken_at));
            }
            WaitState::Woken(LockHold { section, .. }) => {
                return Step::Wake(section.lock, section.woken_at.unwrap_or(section.taken_at));
            }
            WaitState::Running => {}
        }
        match state.threads[thread].frames.last() {
            None => Step::Finished,
            Some(frame) => {
                let instruction = self.instruction(frame).expect("a thread stops before a step");
                self.step_of(state, frame, instruction).expect("a thread stops before a step")
            }
        }
    }

    fn instruction(&self, frame: &Frame) -> Option<&'a Instruction> {
        self.body(frame.method).blocks[frame.block].instructions.get(frame.position)
    }

    /// The step that an instruction is; none if nobody can notice it.
    fn step_of(&self, state: &State, frame: &Frame, instruction: &Instruction) -> Option<Step> {
        let read = |value: &ValueId| frame.values[value.index()];
        let place = CodeLocation { method: frame.method, offset: instruction.offset };
        let access = |object: Option<Value>, field: FieldId, is_write| {
            let object = object.map(|object| match object {
                Value::Object(at) => at,
                other => panic!("{other:?} has no fields"),
            });
            let variable = Variable { object, field };
            let is_final = self.program.fields[field].is_final();
            (!is_final).then_some(Step::Access(Access { variable, is_write, place }))
        };
        match &instruction.operation {
            Operation::GetField { object, field } => access(Some(read(object)), *field, false),
            Operation::PutField { object, field, .. } => access(Some(read(object)), *field, true),
            Operation::GetStatic(field) => access(None, *field, false),
            Operation::PutStatic { field, .. } => access(None, *field, true),
            Operation::MonitorEnter(object) => {
                Some(Step::Acquire(Lock { owner: read(object), is_explicit: false }, place))
            }
            Operation::Call(call) => {
                let arguments: Vec<Value> = call.arguments.iter().map(read).collect();
                match self.callee(state, call, &arguments) {
                    Callee::Method(method) => {
                        let lock = self.lock_of(method, &arguments)?;
                        Some(Step::Acquire(lock, CodeLocation { method, offset: 0 }))
                    }
                    Callee::Library(name) => {
                        let monitor = Lock { owner: arguments[0], is_explicit: false };
                        match name {
                            "lock" => Some(Step::Acquire(
                                Lock { owner: arguments[0], is_explicit: true },
                                place,
                            )),
                            "tryLock" => Some(Step::TryAcquire(
                                Lock { owner: arguments[0], is_explicit: true },
                                place,
                            )),
                            "wait" => Some(Step::Wait(monitor, place)),
                            "notify" => Some(Step::Notify { lock: monitor, all: false }),
                            "notifyAll" => Some(Step::Notify { lock: monitor, all: true }),
                            "join" => {
                                let mut threads = state.threads.iter();
                                let joined = threads.position(|it| it.object == Some(arguments[0]));
                                Some(Step::Join(joined))
                            }
                            _ => None,
                        }
                    }
                }
            }
            Operation::Constant(_)
            | Operation::ArrayLoad { .. }
            | Operation::ArrayStore { .. }
            | Operation::ArrayLength(_)
            | Operation::New(_)
            | Operation::NewArray { .. }
            | Operation::Cast { .. }
            | Operation::InstanceOf { .. }
            | Operation::Binary { .. }
            | Operation::Unary(_)
            | Operation::Compare(..)
            | Operation::DynamicCall(_)
            | Operation::MonitorExit(_) => None,
        }
    }

    /// Does the next step of a thread, which must be enabled, and goes on to the one after.
    pub(crate) fn perform(&self, before: &State, thread: usize) -> Outcome {
        let step = self.next_step(before, thread);
        let mut state = before.clone();
        let mut violation = None;
        match step {
            Step::Access(access) => {
                let sections = state.sections(thread);
                let frames = &state.threads[thread].frames;
                violation = state.history.access(thread, access, sections, frames, |method| {
                    is_meant_to_be_atomic(self.program, method)
                });
                self.access(&mut state, thread, access.variable);
            }
            Step::Acquire(lock, place) => {
                state.acquire(thread, lock, place);
                self.go_on_after_acquisition(&mut state, thread, lock);
            }
            Step::TryAcquire(lock, place) => {
                let is_free = state.owner(lock).is_none_or(|owner| owner == thread);
                if is_free {
                    state.acquire(thread, lock, place);
                }
                let frame = state.threads[thread].frames.last_mut().expect("the thread runs");
                let call = self.instruction(frame).expect("an acquisition is an instruction");
                if let Some(result) = call.result {
                    frame.values[result.index()] = Value::Int(i32::from(is_free));
                }
                frame.position += 1;
            }
            Step::Wait(lock, place) => {
                let mut hold = state.locks.remove(&lock).expect("who waits holds the lock");
                assert_eq!(hold.thread, thread, "who waits holds the lock");
                hold.section.woken_at = Some(place);
                state.threads[thread].wait_state = WaitState::Waiting(hold);
                return Outcome { states: vec![state], violation };
            }
            Step::Notify { lock, all } => {
                let sleepers: Vec<usize> = (0..state.threads.len())
                    .filter(|other| state.awaited(*other) == Some(lock))
                    .collect();
                state.frame(thread).position += 1;
                self.advance(&mut state, thread);
                if all || sleepers.is_empty() {
                    sleepers.into_iter().for_each(|sleeper| wake(&mut state, sleeper));
                    return Outcome { states: vec![state], violation };
                }
                let woken = sleepers.into_iter().map(|sleeper| {
                    let mut state = state.clone();
                    wake(&mut state, sleeper);
                    state
                });
                return Outcome { states: woken.collect(), violation };
            }
            Step::Join(_) => state.frame(thread).position += 1,
            Step::Wake(lock, _) => {
                let WaitState::Woken(hold) = state.threads[thread].wait_state else {
                    panic!("only who was woken takes the lock again")
                };
                state.locks.insert(lock, hold);
                state.threads[thread].wait_state = WaitState::Running;
                state.frame(thread).position += 1;
            }
            Step::Waiting(_) | Step::Finished => panic!("{step:?} is never enabled"),
        }
        self.advance(&mut state, thread);
        Outcome { states: vec![state], violation }
    }

    fn access(&self, state: &mut State, thread: usize, variable: Variable) {
        let frame = state.threads[thread].frames.last_mut().expect("the thread runs");
        let instruction = self.instruction(frame).expect("an access is an instruction");
        let stored = match &instruction.operation {
            Operation::PutField { value, .. } | Operation::PutStatic { value, .. } => {
                Some(frame.values[value.index()])
            }
            _ => None,
        };
        let fields = match variable.object {
            Some(object) => &mut state.heap[object as usize].fields,
            None => &mut state.statics,
        };
        match stored {
            Some(value) => {
                fields.insert(variable.field, value);
            }
            None => {
                let descriptor = &self.program.fields[variable.field].descriptor;
                let zero =
                    if descriptor.starts_with(['L', '[']) { Value::Null } else { Value::Int(0) };
                let value = fields.get(&variable.field).copied().unwrap_or(zero);
                let result = instruction.result.expect("a read has a result");
                frame.values[result.index()] = value;
            }
        }
        frame.position += 1;
    }

    fn go_on_after_acquisition(&self, state: &mut State, thread: usize, lock: Lock) {
        let frame = state.threads[thread].frames.last().expect("the thread runs");
        let instruction = self.instruction(frame).expect("an acquisition is an instruction");
        if let Operation::Call(call) = &instruction.operation {
            let arguments: Vec<Value> =
                call.arguments.iter().map(|value| frame.values[value.index()]).collect();
            if let Callee::Method(method) = self.callee(state, call, &arguments) {
                self.enter(state, thread, method, &arguments, Some(lock));
                return;
            }
        }
        state.frame(thread).position += 1;
    }

    /// Goes on until the next step, or to the end of the thread.
    fn advance(&self, state: &mut State, thread: usize) {
        for _ in 0..MOST_INSTRUCTIONS {
            let Some(frame) = state.threads[thread].frames.last() else { return };
            match self.instruction(frame) {
                Some(instruction) => {
                    if self.step_of(state, frame, instruction).is_some() {
                        return;
                    }
                    self.execute(state, thread, instruction);
                }
                None => self.terminate(state, thread),
            }
        }
        panic!("a thread runs for ever");
    }

    /// Executes an instruction that nobody can notice.
    fn execute(&self, state: &mut State, thread: usize, instruction: &Instruction) {
        let frame = state.threads[thread].frames.last().expect("the thread runs");
        let read = |value: &ValueId| frame.values[value.index()];
        let value = match &instruction.operation {
            Operation::Constant(constant) => match constant {
                Constant::Literal(Literal::Null) => Value::Null,
                Constant::Literal(Literal::Int(number)) => Value::Int(*number),
                Constant::Class(class) => Value::Class(*class),
                Constant::Literal(_) | Constant::String(_) | Constant::Other => Value::Opaque,
            },
            Operation::GetField { object, field } => {
                let fields = &state.object(read(object)).fields;
                fields.get(field).copied().expect("a final field is read once it is set")
            }
            Operation::GetStatic(field) => {
                state.statics.get(field).copied().expect("a final field is read once it is set")
            }
            Operation::PutField { object, field, value } => {
                let (object, value) = (read(object), read(value));
                let Value::Object(at) = object else { panic!("{object:?} has no fields") };
                state.heap[at as usize].fields.insert(*field, value);
                Value::Unset
            }
            Operation::PutStatic { field, value } => {
                let value = read(value);
                state.statics.insert(*field, value);
                Value::Unset
            }
            Operation::New(class) => state.allocate(ObjectKind::Instance(*class), Vec::new()),
            Operation::Cast { value, .. } => read(value),
            Operation::Binary { op, left, right } => match (read(left), read(right)) {
                (Value::Int(left), Value::Int(right)) => Value::Int(match op {
                    BinaryOp::Add => left.wrapping_add(right),
                    BinaryOp::Sub => left.wrapping_sub(right),
                    BinaryOp::Mul => left.wrapping_mul(right),
                    BinaryOp::And => left & right,
                    other => panic!("{other:?} is not executed"),
                }),
                operands => panic!("{op:?} of {operands:?}"),
            },
            Operation::DynamicCall(call) => {
                let DynamicTarget::Lambda(lambda) = &call.target else {
                    panic!("{:?} is not executed", call.target)
                };
                let captured = call.arguments.iter().map(read).collect();
                state.allocate(ObjectKind::Lambda(*lambda), captured)
            }
            Operation::MonitorExit(object) => {
                let lock = Lock { owner: read(object), is_explicit: false };
                state.release(thread, lock);
                Value::Unset
            }
            Operation::Call(call) => {
                let arguments: Vec<Value> = call.arguments.iter().map(read).collect();
                match self.callee(state, call, &arguments) {
                    Callee::Method(method) => {
                        self.enter(state, thread, method, &arguments, None);
                        return;
                    }
                    Callee::Library(name) => self.library_call(state, thread, name, &arguments),
                }
                Value::Unset
            }
            Operation::ArrayLoad { .. }
            | Operation::ArrayStore { .. }
            | Operation::ArrayLength(_)
            | Operation::NewArray { .. }
            | Operation::InstanceOf { .. }
            | Operation::Unary(_)
            | Operation::Compare(..)
            | Operation::MonitorEnter(_) => panic!("{instruction:?} is not executed"),
        };
        let frame = state.frame(thread);
        if let Some(result) = instruction.result {
            frame.values[result.index()] = value;
        }
        frame.position += 1;
    }

    /// What library code does that is no step of its own.
    fn library_call(&self, state: &mut State, thread: usize, name: &str, arguments: &[Value]) {
        match name {
            "<init>" => {
                // Of `Object`, `Thread` and locks; a thread may be given its task.
                if let [Value::Object(at), task] = arguments {
                    state.heap[*at as usize].parts = vec![*task];
                }
            }
            "unlock" => state.release(thread, Lock { owner: arguments[0], is_explicit: true }),
            "start" => {
                state.threads.push(Thread {
                    object: Some(arguments[0]),
                    frames: Vec::new(),
                    wait_state: WaitState::Running,
                });
                let started = state.threads.len() - 1;
                self.run(state, started, arguments[0]);
                self.advance(state, started);
            }
            _ => panic!("{name} is not executed"),
        }
    }

    /// Begins a thread with what an object runs.
    fn run(&self, state: &mut State, thread: usize, value: Value) {
        let object = state.object(value);
        match object.kind {
            ObjectKind::Lambda(lambda) => {
                let captured = object.parts.clone();
                let implementation = self.program.lambdas[lambda].implementation;
                self.enter(state, thread, implementation, &captured, None);
            }
            ObjectKind::Instance(class) => {
                let selector = self.program.selector("run", "()V");
                let run = selector
                    .and_then(|selector| self.program.hierarchy.dispatch(class, selector))
                    .filter(|run| self.program.body(*run).is_some());
                match run {
                    Some(run) => self.enter(state, thread, run, &[value], None),
                    None => {
                        let task = *object.parts.first().expect("a thread has a task");
                        self.run(state, thread, task);
                    }
                }
            }
        }
    }

    fn enter(
        &self,
        state: &mut State,
        thread: usize,
        method: MethodId,
        arguments: &[Value],
        lock: Option<Lock>,
    ) {
        let body = self.body(method);
        let mut values = vec![Value::Unset; body.definitions.len()];
        assert_eq!(body.parameters.len(), arguments.len());
        for (parameter, argument) in body.parameters.iter().zip(arguments) {
            values[parameter.index()] = *argument;
        }
        let first_access = state.history.next_access(thread);
        let block = BlockId::new(0);
        let frame = Frame { method, block, position: 0, values, lock, first_access };
        state.threads[thread].frames.push(frame);
    }

    fn terminate(&self, state: &mut State, thread: usize) {
        let frame = state.threads[thread].frames.last().expect("the thread runs");
        let body = self.body(frame.method);
        let from = frame.block;
        let read = |value: &ValueId| frame.values[value.index()];
        let to = match &body.blocks[from].terminator {
            Terminator::Goto(to) => *to,
            Terminator::Branch { condition, against, left, right, then, otherwise } => {
                let left = read(left);
                let right = match (against, right) {
                    (Against::Zero, _) => Value::Int(0),
                    (Against::Null, _) => Value::Null,
                    (Against::Int | Against::Ref, Some(right)) => read(right),
                    (Against::Int | Against::Ref, None) => panic!("two are compared"),
                };
                if holds(*condition, left, right) { *then } else { *otherwise }
            }
            Terminator::Return(value) => {
                let value = value.as_ref().map(read);
                self.leave(state, thread, value);
                return;
            }
            Terminator::Switch { .. } | Terminator::Throw(_) => panic!("this is not executed"),
        };
        let block = &body.blocks[to];
        let position = block.predecessors.iter().position(|predecessor| *predecessor == from);
        let position = position.expect("control comes from a predecessor");
        let inputs: Vec<Value> = block
            .phis
            .iter()
            .map(|phi| phi.inputs[position].as_ref().map_or(Value::Unset, read))
            .collect();
        let frame = state.frame(thread);
        for (phi, input) in block.phis.iter().zip(inputs) {
            frame.values[phi.result.index()] = input;
        }
        frame.block = to;
        frame.position = 0;
    }

    fn leave(&self, state: &mut State, thread: usize, value: Option<Value>) {
        let frame = state.threads[thread].frames.pop().expect("a call is open");
        if let Some(lock) = frame.lock {
            state.release(thread, lock);
        }
        let frames = &state.threads[thread].frames;
        if !frames.iter().any(|frame| is_meant_to_be_atomic(self.program, frame.method)) {
            state.history.forget(thread);
        }
        if let Some(caller) = state.threads[thread].frames.last_mut() {
            let call = self.instruction(caller).expect("a call is open");
            if let Some(result) = call.result {
                caller.values[result.index()] = value.expect("the call has a result");
            }
            caller.position += 1;
        }
    }

    /// What a call ends up in.
    fn callee(&self, state: &State, call: &ir::Call, arguments: &[Value]) -> Callee<'a> {
        let program = self.program;
        let declared = &program.methods[call.method];
        let method = match call.kind {
            InvokeKind::Static | InvokeKind::Special => Some(call.method),
            InvokeKind::Virtual | InvokeKind::Interface => match arguments[0] {
                Value::Object(at) => match state.heap[at as usize].kind {
                    ObjectKind::Instance(class) => {
                        program.hierarchy.dispatch(class, declared.selector)
                    }
                    ObjectKind::Lambda(_) => None,
                },
                Value::Class(_) => None,
                other => panic!("{} of {other:?}", declared.name),
            },
        };
        match method.filter(|method| program.is_application(*method)) {
            Some(method) => Callee::Method(method),
            None => Callee::Library(&declared.name),
        }
    }

    /// The lock that calling a method takes.
    fn lock_of(&self, method: MethodId, arguments: &[Value]) -> Option<Lock> {
        let declared = &self.program.methods[method];
        declared.is_synchronized().then(|| {
            let owner =
                if declared.is_static() { Value::Class(declared.class) } else { arguments[0] };
            Lock { owner, is_explicit: false }
        })
    }
}

enum Callee<'a> {
    Method(MethodId),
    Library(&'a str),
}

fn wake(state: &mut State, sleeper: usize) {
    let WaitState::Waiting(hold) = state.threads[sleeper].wait_state else {
        panic!("only who sleeps is woken")
    };
    state.threads[sleeper].wait_state = WaitState::Woken(hold);
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
        _ => match condition {
            Condition::Eq => left == right,
            Condition::Ne => left != right,
            Condition::Lt | Condition::Ge | Condition::Gt | Condition::Le => {
                panic!("references have no order")
            }
        },
    }
}

/// Whether the calls of a method are meant to be atomic: those that are not private, but for the bodies of
/// threads, `main` and initialisers.
pub(crate) fn is_meant_to_be_atomic(program: &Program, method: MethodId) -> bool {
    let declared = &program.methods[method];
    let is_thread_body = matches!(&*declared.name, "run" | "main");
    !declared.is_private() && !declared.is_initializer() && !is_thread_body
}
