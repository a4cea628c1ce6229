//! Objects that are new: what no other thread can know yet.
//!
//! An object that a method makes, or a constructor works on, is known to its thread alone until a reference to it is
//! stored, returned, thrown, locked, or passed to code that may do so. Which references may be such an object is found by
//! following the code of one method, with one bit for each place where objects are made; of the methods that are called it
//! is known which of their parameters they keep, if their classes were seen and no other method can be meant.
//!
//! - An object that the method makes and never lets go needs no hooks: nobody else ever asks what was done to it.
//! - As long as an object is new, its accesses are noted and not compared with what is noted of it: nobody can have come in
//!   between. The note is the one that the comparison would end in, so that a thread that gets the object by a race finds
//!   what was done before.
//!
//! Neither changes a verdict or who is blamed for it. Of several accesses to a new object in one epoch the last site is named
//! instead of the first.
//!
//! A place in a loop makes many objects. The bit means the last one; a reference to an older one, which may still be held in
//! a local variable, has another bit.

use std::sync::Arc;

use classes::bytecode::{Instruction, Kind, Literal};
use classes::descriptor::{Type, parse_field, parse_method};
use classes::{ClassFile, Code, MemberRef};
use rustc_hash::FxHashMap;

use crate::class_hierarchy::{ALL_PARAMETERS, Parameters};
use crate::plan::stack_words::{field_words, shuffle, words};

/// Methods with more instructions are not followed.
const MOST_INSTRUCTIONS: usize = 3000;
/// How many parameters and places are told apart; what is beyond counts as known to others.
const MOST_PARAMETERS: usize = 16;
const MOST_ORIGINS: usize = 60;

/// Sets of origins; those of a value have this bit if it may be anything else, too.
type Origins = u64;
const OTHER: Origins = 1 << 63;

/// Who may know the object of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// This method alone, for as long as it lives.
    ToMethod,
    /// This thread alone, so far.
    ToThread,
}

/// What the flow asks about the code around a method.
pub(super) trait Surroundings {
    /// Which parameters a call may keep, the receiver first if there is one.
    fn kept(&self, instruction: &Instruction, method: &MemberRef<'_>) -> Parameters;
    /// Whether objects of a class are followed.
    fn follows(&self, class: &Arc<str>) -> bool;
}

/// What is known of the objects of one method.
#[derive(Debug)]
pub(super) struct ObjectFlow {
    known: FxHashMap<u32, Known>,
    kept: Parameters,
}

impl ObjectFlow {
    /// Follows a method; nothing if that cannot be done.
    pub(super) fn of(
        file: &ClassFile,
        code: &Code,
        instructions: &[(u32, Instruction)],
        entry: &Entry,
        surroundings: &dyn Surroundings,
    ) -> Option<ObjectFlow> {
        if instructions.len() > MOST_INSTRUCTIONS {
            return None;
        }
        Follower {
            file,
            code,
            instructions,
            surroundings,
            states: vec![None; instructions.len()],
            pending: Vec::new(),
            parameters: entry.parameters.len().min(MOST_PARAMETERS),
            origins: FxHashMap::default(),
            kept: 0,
        }
        .follow(entry)
    }

    /// Who may know the object of the access to a field at an offset, if not everybody.
    pub(super) fn known(&self, offset: u32) -> Option<Known> {
        self.known.get(&offset).copied()
    }

    /// The parameters that may be known to others when the method has returned, although they were not before.
    pub(super) fn kept(&self) -> Parameters {
        self.kept
    }
}

/// What a method begins with.
#[derive(Debug)]
pub(super) struct Entry {
    /// How many words each parameter takes, and whether it is a reference; the receiver is the first.
    parameters: Vec<(usize, bool)>,
    /// Whether the first one is an object under construction.
    is_constructor: bool,
}

impl Entry {
    /// The entry of a method; nothing if its descriptor makes no sense.
    pub(super) fn new(descriptor: &str, is_static: bool, is_constructor: bool) -> Option<Entry> {
        let types = parse_method(descriptor).ok()?;
        let receiver = (!is_static).then_some((1, true));
        let parameters = types.params.iter().map(|it| (usize::from(it.slots()), it.is_reference()));
        Some(Entry { parameters: receiver.into_iter().chain(parameters).collect(), is_constructor })
    }
}

/// The objects that a word may refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Value {
    /// The last object of a place, or a parameter.
    last: Origins,
    /// Older objects of a place.
    older: Origins,
}

impl Value {
    const ANYTHING: Value = Value { last: OTHER, older: 0 };

    fn join(&mut self, other: Value) {
        self.last |= other.last;
        self.older |= other.older;
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    stack: Vec<Value>,
    locals: Vec<Value>,
    /// The origins whose last object others may know.
    escaped: Origins,
}

impl State {
    fn values(&mut self) -> impl Iterator<Item = &mut Value> {
        self.stack.iter_mut().chain(&mut self.locals)
    }
}

struct Follower<'a> {
    file: &'a ClassFile,
    code: &'a Code,
    instructions: &'a [(u32, Instruction)],
    surroundings: &'a dyn Surroundings,
    /// What may hold before each instruction that somebody has come to.
    states: Vec<Option<State>>,
    pending: Vec<usize>,
    parameters: usize,
    /// The origins of the places that make objects, by offset.
    origins: FxHashMap<u32, Origins>,
    /// The origins of which some object may ever be known to others.
    kept: Origins,
}

impl Follower<'_> {
    fn follow(mut self, entry: &Entry) -> Option<ObjectFlow> {
        self.reach(0, &self.begin(entry)?)?;
        while let Some(index) = self.pending.pop() {
            let state = self.states[index].clone()?;
            self.step(index, state)?;
        }
        let parameters = (1 << self.parameters) - 1;
        let mut known = FxHashMap::default();
        for ((offset, instruction), state) in self.instructions.iter().zip(&self.states) {
            let Some(state) = state else { continue };
            let depth = match instruction {
                Instruction::GetField(_) => 0,
                Instruction::PutField(field) => field_words(self.file, *field)?,
                _ => continue,
            };
            let object = at(&state.stack, depth)?;
            let all = object.last | object.older;
            // A reference without any origin is null.
            if all == 0 || all & OTHER != 0 {
                continue;
            }
            if all & (self.kept | parameters) == 0 {
                known.insert(*offset, Known::ToMethod);
            } else if object.older == 0 && object.last & state.escaped == 0 {
                known.insert(*offset, Known::ToThread);
            }
        }
        let beyond = ALL_PARAMETERS << self.parameters.min(31);
        Some(ObjectFlow { known, kept: (self.kept & parameters) as Parameters | beyond })
    }

    fn begin(&self, entry: &Entry) -> Option<State> {
        let mut locals = vec![Value::default(); usize::from(self.code.max_locals)];
        let mut slot = 0;
        for (index, (words, is_reference)) in entry.parameters.iter().enumerate() {
            let is_followed = *is_reference && index < self.parameters;
            let last = if is_followed { 1 << index } else { OTHER };
            *locals.get_mut(slot)? = Value { last, older: 0 };
            slot += words;
        }
        // Others may know the parameters, but for the object that is just being made.
        let all = (1 << self.parameters) - 1;
        let escaped = if entry.is_constructor { all & !1 } else { all };
        Some(State { stack: Vec::new(), locals, escaped })
    }

    /// Merges a state into what may hold before an instruction.
    fn reach(&mut self, index: usize, state: &State) -> Option<()> {
        match self.states.get_mut(index)? {
            place @ None => *place = Some(state.clone()),
            Some(known) => {
                if known.stack.len() != state.stack.len() {
                    return None;
                }
                let before = known.clone();
                let words = known.stack.iter_mut().zip(&state.stack);
                for (known, new) in words.chain(known.locals.iter_mut().zip(&state.locals)) {
                    known.join(*new);
                }
                known.escaped |= state.escaped;
                if *known == before {
                    return Some(());
                }
            }
        }
        self.pending.push(index);
        Some(())
    }

    fn reach_offset(&mut self, offset: u32, state: &State) -> Option<()> {
        let index = self.instructions.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        self.reach(index, state)
    }

    /// Goes on from one instruction; nothing when the code makes no sense.
    fn step(&mut self, index: usize, mut state: State) -> Option<()> {
        let instructions = self.instructions;
        let (offset, ref instruction) = instructions[index];
        let handlers = &self.code.handlers;
        let covers = |row: &&classes::Handler| (row.start..row.end).contains(&offset);
        let is_caught = instruction.may_throw() && handlers.iter().any(|row| covers(&row));
        let locals = is_caught.then(|| state.locals.clone());
        self.execute(offset, instruction, &mut state)?;
        if let Some(locals) = locals {
            // What a call that fails has been given is known to others just the same.
            let caught = State { stack: vec![Value::ANYTHING], locals, escaped: state.escaped };
            for handler in handlers.iter().filter(covers) {
                self.reach_offset(handler.target, &caught)?;
            }
        }
        match instruction {
            Instruction::Goto(target) | Instruction::Branch { target, .. } => {
                self.reach_offset(*target, &state)?;
            }
            Instruction::Switch { default, cases } => {
                self.reach_offset(*default, &state)?;
                for (_, target) in cases {
                    self.reach_offset(*target, &state)?;
                }
            }
            Instruction::Jsr(_) | Instruction::Ret { .. } => return None,
            _ => {}
        }
        if instruction.falls_through() {
            self.reach(index + 1, &state)?;
        }
        Some(())
    }

    /// Others may know what a value refers to from here on.
    fn escape(&mut self, state: &mut State, value: Value) {
        self.kept |= (value.last | value.older) & !OTHER;
        state.escaped |= value.last & !OTHER;
    }

    fn execute(&mut self, offset: u32, instruction: &Instruction, state: &mut State) -> Option<()> {
        match instruction {
            Instruction::Load { kind: Kind::Ref, slot } => {
                let value = *state.locals.get(usize::from(*slot))?;
                state.stack.push(value);
                return Some(());
            }
            Instruction::Store { kind, slot } => {
                let mut value = Value::ANYTHING;
                for word in 0..kind.words() {
                    value = state.stack.pop()?;
                    *state.locals.get_mut(usize::from(*slot) + word)? = Value::ANYTHING;
                }
                *state.locals.get_mut(usize::from(*slot))? = value;
                return Some(());
            }
            Instruction::Stack(operation) => return shuffle(*operation, &mut state.stack),
            Instruction::Push(Literal::Null) => {
                state.stack.push(Value::default());
                return Some(());
            }
            // The same object under another type.
            Instruction::CheckCast(_) => return Some(()),
            Instruction::New(class) => {
                let class = self.file.pool.class_name(*class).ok()?;
                let value = match self.origin(offset, class) {
                    Some(origin) => {
                        for value in state.values() {
                            value.older |= value.last & origin;
                            value.last &= !origin;
                        }
                        state.escaped &= !origin;
                        Value { last: origin, older: 0 }
                    }
                    None => Value::ANYTHING,
                };
                state.stack.push(value);
                return Some(());
            }
            Instruction::PutField(field) | Instruction::PutStatic(field) => {
                let field = self.file.pool.member_ref(*field).ok()?;
                if parse_field(field.descriptor).ok()?.is_reference() {
                    self.escape(state, at(&state.stack, 0)?);
                }
            }
            Instruction::ArrayStore(Kind::Ref)
            | Instruction::Return(Some(Kind::Ref))
            | Instruction::Throw
            | Instruction::MonitorEnter
            | Instruction::MonitorExit => self.escape(state, at(&state.stack, 0)?),
            Instruction::Invoke { method, .. } => {
                let method = self.file.pool.member_ref(*method).ok()?;
                let kept = self.surroundings.kept(instruction, &method);
                let (pops, _) = words(self.file, instruction)?;
                let types = parse_method(method.descriptor).ok()?;
                let has_receiver = pops > types.param_slots() as usize;
                let receiver = has_receiver.then_some(Type::Object(""));
                let mut depth = pops;
                for (index, of) in
                    receiver.into_iter().chain(types.params.iter().copied()).enumerate()
                {
                    depth = depth.checked_sub(usize::from(of.slots()))?;
                    let is_kept = kept >> index.min(31) & 1 != 0;
                    if of.is_reference() && is_kept {
                        self.escape(state, at(&state.stack, depth)?);
                    }
                }
            }
            Instruction::InvokeDynamic(_) => {
                let (pops, _) = words(self.file, instruction)?;
                for depth in 0..pops {
                    self.escape(state, at(&state.stack, depth)?);
                }
            }
            _ => {}
        }
        let (pops, pushes) = words(self.file, instruction)?;
        let left = state.stack.len().checked_sub(pops)?;
        state.stack.truncate(left);
        state.stack.resize(left + pushes, Value::ANYTHING);
        Some(())
    }

    /// The origin of the objects that are made at an offset, if they are followed.
    fn origin(&mut self, offset: u32, class: &Arc<str>) -> Option<Origins> {
        if let Some(origin) = self.origins.get(&offset) {
            return Some(*origin);
        }
        let next = self.parameters + self.origins.len();
        if next >= MOST_ORIGINS || !self.surroundings.follows(class) {
            return None;
        }
        self.origins.insert(offset, 1 << next);
        Some(1 << next)
    }
}

/// The word at a depth of the stack.
fn at(stack: &[Value], depth: usize) -> Option<Value> {
    stack.get(stack.len().checked_sub(depth + 1)?).copied()
}
