//! Constructors before `super()` or `this()` has returned.
//!
//! Until then the object under construction may be handed to nobody, hooks included. The JVM allows
//! little with it: its own fields may be written, and it may be compared and, in theory, locked. Which of
//! these instructions may see it is found by following the code from the beginning up to the calls that
//! end this state, with one bit for each word of the stack and each local variable: whether it may be
//! the object under construction. Code after those calls is never looked at.

use classes::bytecode::{Against, Instruction, InvokeKind, Kind, Literal, StackOp};
use classes::descriptor::{parse_field, parse_method};
use classes::{ClassFile, Code, Constant, PoolIndex};
use rustc_hash::FxHashSet;

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
            Instruction::PutField(field) => at(self.field_words(*field)?),
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

    fn field_words(&self, field: PoolIndex) -> Option<usize> {
        let field = self.file.pool.member_ref(field).ok()?;
        parse_field(field.descriptor).ok().map(|kind| usize::from(kind.slots()))
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
        let (pops, pushes) = self.words(instruction)?;
        let left = state.stack.len().checked_sub(pops)?;
        state.stack.truncate(left);
        state.stack.resize(left + pushes, false);
        Some(())
    }

    /// How many words an instruction takes from the stack and how many it leaves there.
    fn words(&self, instruction: &Instruction) -> Option<(usize, usize)> {
        Some(match instruction {
            Instruction::Nop | Instruction::Increment { .. } | Instruction::Goto(_) => (0, 0),
            Instruction::Push(literal) => match literal {
                Literal::Null | Literal::Int(_) | Literal::Float(_) => (0, 1),
                Literal::Long(_) | Literal::Double(_) => (0, 2),
            },
            Instruction::LoadConstant(index) => (0, self.constant_words(*index)?),
            Instruction::Load { kind, .. } => (0, kind.words()),
            Instruction::ArrayLoad(kind) => (2, kind.words()),
            Instruction::ArrayStore(kind) => (2 + kind.words(), 0),
            Instruction::Binary { op, kind } => {
                use classes::bytecode::BinaryOp::{Shl, Shr, Ushr};
                let second = if matches!(op, Shl | Shr | Ushr) { 1 } else { kind.words() };
                (kind.words() + second, kind.words())
            }
            Instruction::Negate(kind) => (kind.words(), kind.words()),
            Instruction::Convert { from, to } => (from.words(), to.words()),
            Instruction::Compare(kind) => (2 * kind.words(), 1),
            Instruction::Branch { against, .. } => match against {
                Against::Zero | Against::Null => (1, 0),
                Against::Int | Against::Ref => (2, 0),
            },
            Instruction::Switch { .. } => (1, 0),
            Instruction::Return(kind) => (kind.map_or(0, Kind::words), 0),
            Instruction::GetStatic(field) => (0, self.field_words(*field)?),
            Instruction::PutStatic(field) => (self.field_words(*field)?, 0),
            Instruction::GetField(field) => (1, self.field_words(*field)?),
            Instruction::PutField(field) => (1 + self.field_words(*field)?, 0),
            Instruction::Invoke { kind, method } => {
                let method = self.file.pool.member_ref(*method).ok()?;
                let (pops, pushes) = call_words(method.descriptor)?;
                (pops + usize::from(*kind != InvokeKind::Static), pushes)
            }
            Instruction::InvokeDynamic(call) => {
                call_words(self.file.pool.dynamic(*call).ok()?.descriptor)?
            }
            Instruction::New(_) => (0, 1),
            Instruction::NewPrimitiveArray { .. }
            | Instruction::NewReferenceArray(_)
            | Instruction::ArrayLength
            | Instruction::CheckCast(_)
            | Instruction::InstanceOf(_) => (1, 1),
            Instruction::NewMultiArray { dimensions, .. } => (usize::from(*dimensions), 1),
            Instruction::Throw | Instruction::MonitorEnter | Instruction::MonitorExit => (1, 0),
            Instruction::Jsr(_)
            | Instruction::Ret { .. }
            | Instruction::Store { .. }
            | Instruction::Stack(_) => return None,
        })
    }

    fn constant_words(&self, index: PoolIndex) -> Option<usize> {
        Some(match self.file.pool.get(index).ok()? {
            Constant::Long(_) | Constant::Double(_) => 2,
            Constant::Dynamic(constant) => {
                usize::from(parse_field(constant.descriptor).ok()?.slots())
            }
            _ => 1,
        })
    }
}

fn call_words(descriptor: &str) -> Option<(usize, usize)> {
    let parsed = parse_method(descriptor).ok()?;
    let pushes = parsed.ret.map_or(0, |result| usize::from(result.slots()));
    Some((parsed.param_slots() as usize, pushes))
}

fn shuffle(operation: StackOp, stack: &mut Vec<bool>) -> Option<()> {
    // How many words are copied, and below how many they go.
    let (count, below) = match operation {
        StackOp::Pop | StackOp::Pop2 => {
            let count = if operation == StackOp::Pop { 1 } else { 2 };
            stack.truncate(stack.len().checked_sub(count)?);
            return Some(());
        }
        StackOp::Swap => {
            let top = stack.len().checked_sub(1)?;
            stack.swap(top, top.checked_sub(1)?);
            return Some(());
        }
        StackOp::Dup => (1, 0),
        StackOp::DupX1 => (1, 1),
        StackOp::DupX2 => (1, 2),
        StackOp::Dup2 => (2, 0),
        StackOp::Dup2X1 => (2, 1),
        StackOp::Dup2X2 => (2, 2),
    };
    let start = stack.len().checked_sub(count)?;
    let place = start.checked_sub(below)?;
    let copies = stack[start..].to_vec();
    stack.splice(place..place, copies);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shuffled_as_the_jvm_does() {
        let shuffled = |operation, words: &[bool]| {
            let mut stack = words.to_vec();
            shuffle(operation, &mut stack).map(|()| stack)
        };
        assert_eq!(shuffled(StackOp::Dup, &[true]), Some(vec![true, true]));
        assert_eq!(shuffled(StackOp::DupX1, &[false, true]), Some(vec![true, false, true]));
        assert_eq!(
            shuffled(StackOp::Dup2X1, &[true, false, false]),
            Some(vec![false, false, true, false, false])
        );
        assert_eq!(shuffled(StackOp::Swap, &[true, false]), Some(vec![false, true]));
        assert_eq!(shuffled(StackOp::Pop2, &[true]), None);
        assert_eq!(shuffled(StackOp::Swap, &[true]), None);
    }
}
