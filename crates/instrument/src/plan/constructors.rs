//! Constructors before `super()` or `this()` has returned.
//!
//! Until then the object under construction may be handed to nobody, hooks included. The JVM allows
//! little with it: its own fields may be written, and it may be compared and, in theory, locked. Which of
//! these instructions may see it is found by following the code from the beginning up to the calls that
//! end this state, with one bit for each word of the stack and each local variable: whether it may be
//! the object under construction. Code after those calls is never looked at.

use classes::bytecode::{Against, Instruction, InvokeKind, Kind};
use classes::descriptor::parse_method;
use classes::{ClassFile, Code};
use rustc_hash::FxHashSet;

use crate::plan::stack_words::{field_words, shuffle, words};

/// What may see the object under construction.
#[derive(Debug)]
pub(super) enum Construction {
    /// Nothing: this is no constructor.
    Over,
    /// The instructions at these offsets.
    Sees(FxHashSet<u32>),
    /// Any instruction; the code could not be followed.
    Unknown,
}

impl Construction {
    /// Follows a constructor.
    pub(super) fn of(
        file: &ClassFile,
        code: &Code,
        instructions: &[(u32, Instruction)],
    ) -> Construction {
        let follower = Follower {
            file,
            code,
            instructions,
            states: vec![None; instructions.len()],
            pending: Vec::new(),
            sees: FxHashSet::default(),
        };
        match follower.follow() {
            Some(sees) => Construction::Sees(sees),
            None => Construction::Unknown,
        }
    }

    /// Whether the operand of the instruction at an offset may be the object under construction.
    pub(super) fn may_use_unfinished(&self, offset: u32) -> bool {
        match self {
            Construction::Over => false,
            Construction::Sees(offsets) => offsets.contains(&offset),
            Construction::Unknown => true,
        }
    }
}

/// Whether each word may be the object under construction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    stack: Vec<bool>,
    locals: Vec<bool>,
}

struct Follower<'a> {
    file: &'a ClassFile,
    code: &'a Code,
    instructions: &'a [(u32, Instruction)],
    /// What may hold before each instruction; absent where the object is known to be complete, or
    /// nobody came yet.
    states: Vec<Option<State>>,
    pending: Vec<usize>,
    sees: FxHashSet<u32>,
}

impl Follower<'_> {
    fn follow(mut self) -> Option<FxHashSet<u32>> {
        let mut locals = vec![false; usize::from(self.code.max_locals)];
        *locals.first_mut()? = true;
        self.reach(0, &State { stack: Vec::new(), locals })?;
        while let Some(index) = self.pending.pop() {
            let state = self.states[index].clone()?;
            self.step(index, state)?;
        }
        Some(self.sees)
    }

    /// Merges a state into what may hold before an instruction.
    fn reach(&mut self, index: usize, state: &State) -> Option<()> {
        match self.states.get_mut(index)? {
            place @ None => {
                *place = Some(state.clone());
                self.pending.push(index);
            }
            Some(known) => {
                if known.stack.len() != state.stack.len() {
                    return None;
                }
                let before = known.clone();
                let words = known.stack.iter_mut().zip(&state.stack);
                for (known, new) in words.chain(known.locals.iter_mut().zip(&state.locals)) {
                    *known |= new;
                }
                if *known != before {
                    self.pending.push(index);
                }
            }
        }
        Some(())
    }

    fn reach_offset(&mut self, offset: u32, state: &State) -> Option<()> {
        let index = self.instructions.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        self.reach(index, state)
    }

    /// Goes on from one instruction; nothing when the code makes no sense.
    fn step(&mut self, index: usize, mut state: State) -> Option<()> {
        let (offset, ref instruction) = self.instructions[index];
        if instruction.may_throw() {
            let handlers = &self.code.handlers;
            for handler in handlers.iter().filter(|row| (row.start..row.end).contains(&offset)) {
                let caught = State { stack: vec![false], locals: state.locals.clone() };
                self.reach_offset(handler.target, &caught)?;
            }
        }
        if self.sees_unfinished(instruction, &state)? {
            self.sees.insert(offset);
        }
        if self.completes(instruction, &state)? {
            return Some(());
        }
        self.execute(instruction, &mut state)?;
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

    /// Whether an instruction that may be watched has the unfinished object as its operand.
    fn sees_unfinished(&self, instruction: &Instruction, state: &State) -> Option<bool> {
        let at = |depth: usize| {
            let index = state.stack.len().checked_sub(depth + 1)?;
            state.stack.get(index).copied()
        };
        match instruction {
            Instruction::PutField(field) => at(field_words(self.file, *field)?),
            Instruction::MonitorEnter
            | Instruction::MonitorExit
            | Instruction::Branch { against: Against::Null, .. } => at(0),
            Instruction::Branch { against: Against::Ref, .. } => Some(at(0)? || at(1)?),
            _ => Some(false),
        }
    }

    /// Whether an instruction is the call of `super()` or `this()`.
    fn completes(&self, instruction: &Instruction, state: &State) -> Option<bool> {
        let Instruction::Invoke { kind: InvokeKind::Special, method } = instruction else {
            return Some(false);
        };
        let method = self.file.pool.member_ref(*method).ok()?;
        if &**method.name != "<init>" {
            return Some(false);
        }
        let words = parse_method(method.descriptor).ok()?.param_slots() as usize;
        let receiver = state.stack.len().checked_sub(words + 1)?;
        state.stack.get(receiver).copied()
    }

    fn execute(&self, instruction: &Instruction, state: &mut State) -> Option<()> {
        match instruction {
            Instruction::Load { kind: Kind::Ref, slot } => {
                let value = *state.locals.get(usize::from(*slot))?;
                state.stack.push(value);
                return Some(());
            }
            Instruction::Store { kind, slot } => {
                let mut value = false;
                for word in 0..kind.words() {
                    value = state.stack.pop()?;
                    *state.locals.get_mut(usize::from(*slot) + word)? = false;
                }
                *state.locals.get_mut(usize::from(*slot))? = value;
                return Some(());
            }
            Instruction::Stack(operation) => return shuffle(*operation, &mut state.stack),
            _ => {}
        }
        let (pops, pushes) = words(self.file, instruction)?;
        let left = state.stack.len().checked_sub(pops)?;
        state.stack.truncate(left);
        state.stack.resize(left + pushes, false);
        Some(())
    }
}
