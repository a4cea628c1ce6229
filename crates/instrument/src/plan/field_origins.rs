//! Which field an object was read from: what people call a lock or a collection that has no name of its own.
//!
//! The code of one method is followed in the order of its bytes, from each jump's target with an empty memory. A local
//! variable that is only ever given what one field holds keeps that name throughout. What is not known has no name, which
//! costs a report a word and nothing else. A view of a lock is known by the field of the lock.

use classes::bytecode::{Instruction, InvokeKind, Kind};
use classes::{ClassFile, Code, PoolIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::stack_words::{shuffle, words};

/// Methods with more instructions are not followed.
const MOST_INSTRUCTIONS: usize = 3000;

/// The field that a word on the stack or a local variable was read from.
type Origin = Option<PoolIndex>;

/// For each instruction of interest, the fields that its operands were read from.
#[derive(Debug, Default)]
pub(super) struct FieldOrigins {
    /// By offset, and by how many words of the operands lie below.
    by_operand: FxHashMap<(u32, usize), PoolIndex>,
}

impl FieldOrigins {
    /// Follows a method. The result of a call of `is_view` stands for the object that it is called for.
    pub(super) fn of(
        file: &ClassFile,
        code: &Code,
        instructions: &[(u32, Instruction)],
        is_view: &dyn Fn(PoolIndex) -> bool,
    ) -> FieldOrigins {
        if instructions.len() > MOST_INSTRUCTIONS {
            return FieldOrigins::default();
        }
        let targets = targets(code, instructions);
        // The first walk finds what each variable is given, the second uses it.
        let mut walk = Walk::new(file, targets, is_view);
        walk.run(instructions);
        walk.lasting = walk
            .given
            .iter()
            .filter_map(|(slot, origins)| match origins[..] {
                [Some(only)] => Some((*slot, only)),
                _ => None,
            })
            .collect();
        walk.run(instructions);
        FieldOrigins { by_operand: walk.found }
    }

    /// The field that an operand of an instruction was read from: the object of a monitor or of a call, an argument, or an
    /// array. `words_below` operands lie below it.
    pub(super) fn at(&self, offset: u32, words_below: usize) -> Option<PoolIndex> {
        self.by_operand.get(&(offset, words_below)).copied()
    }
}

struct Walk<'a> {
    file: &'a ClassFile,
    targets: FxHashSet<u32>,
    stack: Vec<Origin>,
    locals: FxHashMap<u16, PoolIndex>,
    /// The variables that are only ever given one field.
    lasting: FxHashMap<u16, PoolIndex>,
    /// What each variable is given, each origin once.
    given: FxHashMap<u16, Vec<Origin>>,
    found: FxHashMap<(u32, usize), PoolIndex>,
    is_view: &'a dyn Fn(PoolIndex) -> bool,
}

impl<'a> Walk<'a> {
    fn new(
        file: &'a ClassFile,
        targets: FxHashSet<u32>,
        is_view: &'a dyn Fn(PoolIndex) -> bool,
    ) -> Walk<'a> {
        Walk {
            file,
            targets,
            is_view,
            stack: Vec::new(),
            locals: FxHashMap::default(),
            lasting: FxHashMap::default(),
            given: FxHashMap::default(),
            found: FxHashMap::default(),
        }
    }

    fn run(&mut self, instructions: &[(u32, Instruction)]) {
        self.forget();
        for (offset, instruction) in instructions {
            if self.targets.contains(offset) {
                self.forget();
            }
            if self.step(*offset, instruction).is_none() {
                self.stack.clear();
            }
        }
    }

    fn forget(&mut self) {
        self.stack.clear();
        self.locals.clear();
    }

    /// Nothing if what is on the stack is not known any more.
    fn step(&mut self, offset: u32, instruction: &Instruction) -> Option<()> {
        match instruction {
            Instruction::Load { kind: Kind::Ref, slot } => {
                let known = self.locals.get(slot).or_else(|| self.lasting.get(slot));
                self.stack.push(known.copied());
                return Some(());
            }
            Instruction::Store { kind, slot } => {
                let origin = self.pop(kind.words());
                let given = self.given.entry(*slot).or_default();
                if !given.contains(&origin) {
                    given.push(origin);
                }
                match origin {
                    Some(field) => self.locals.insert(*slot, field),
                    None => self.locals.remove(slot),
                };
                return Some(());
            }
            Instruction::Stack(operation) => return shuffle(*operation, &mut self.stack),
            Instruction::CheckCast(_) => return Some(()),
            Instruction::GetField(field) | Instruction::GetStatic(field) => {
                let (pops, pushes) = words(self.file, instruction)?;
                self.pop(pops);
                self.push(pushes, Some(*field));
                return Some(());
            }
            _ => {}
        }
        let (pops, pushes) = words(self.file, instruction)?;
        if uses_objects(instruction) {
            for (above, origin) in self.stack.iter().rev().take(pops).enumerate() {
                if let Some(field) = origin {
                    self.found.insert((offset, pops - 1 - above), *field);
                }
            }
        }
        let object = self.pop(pops);
        let is_view = matches!(instruction, Instruction::Invoke { kind, method }
            if *kind != InvokeKind::Static && (self.is_view)(*method));
        self.push(pushes, object.filter(|_| is_view));
        Some(())
    }

    /// Takes words from the stack; the origin of the deepest of them.
    fn pop(&mut self, words: usize) -> Origin {
        let mut deepest = None;
        for _ in 0..words {
            deepest = self.stack.pop().flatten();
        }
        deepest
    }

    fn push(&mut self, words: usize, origin: Origin) {
        // Only what takes one word is a reference.
        let origin = origin.filter(|_| words == 1);
        self.stack.extend(std::iter::repeat_n(origin, words));
    }
}

/// Whether an instruction uses the objects among its operands.
fn uses_objects(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::MonitorEnter
            | Instruction::MonitorExit
            | Instruction::ArrayLoad(_)
            | Instruction::ArrayStore(_)
            | Instruction::Invoke { .. }
    )
}

/// Where control may come from elsewhere.
fn targets(code: &Code, instructions: &[(u32, Instruction)]) -> FxHashSet<u32> {
    let mut targets: FxHashSet<u32> = code.handlers.iter().map(|handler| handler.target).collect();
    for (_, instruction) in instructions {
        match instruction {
            Instruction::Branch { target, .. }
            | Instruction::Goto(target)
            | Instruction::Jsr(target) => {
                targets.insert(*target);
            }
            Instruction::Switch { default, cases } => {
                targets.insert(*default);
                targets.extend(cases.iter().map(|(_, target)| *target));
            }
            _ => {}
        }
    }
    targets
}
