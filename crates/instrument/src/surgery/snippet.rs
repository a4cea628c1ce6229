//! Straight-line code to insert, and where to insert it.

use std::collections::BTreeMap;

use classes::bytecode::Kind;

use crate::error::InstrumentError;
use crate::surgery::pool::PoolEditor;

/// Straight-line bytecode: no branches, no returns, nothing that depends on where it stands.
///
/// The builder methods count what the code does to the operand stack, so that the rewritten method
/// can be given a stack that is deep enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    code: Vec<u8>,
    /// The height of the operand stack now, against what it was where the snippet begins. It is below
    /// zero while the snippet holds operands of the code around it in local variables.
    height: i32,
    /// The greatest height so far; never below zero.
    peak: i32,
}

impl Snippet {
    /// A snippet without code.
    #[must_use]
    pub fn new() -> Snippet {
        Snippet::default()
    }

    /// Whether there is nothing to insert.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// The bytes to insert.
    #[must_use]
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// How many words the snippet needs above the depth of the stack where it begins.
    #[must_use]
    pub fn stack(&self) -> i32 {
        self.peak
    }

    /// How many words the snippet leaves on the stack; below zero when it takes some away.
    #[must_use]
    pub fn net(&self) -> i32 {
        self.height
    }

    /// One instruction without operands, which takes `pops` words from the stack and then puts
    /// `pushes` words there.
    pub fn raw(&mut self, opcode: u8, pops: u16, pushes: u16) -> &mut Snippet {
        self.bytes(&[opcode], pops, pushes)
    }

    /// Instructions as bytes, which take `pops` words from the stack and then put `pushes` words
    /// there.
    pub fn bytes(&mut self, code: &[u8], pops: u16, pushes: u16) -> &mut Snippet {
        self.code.extend_from_slice(code);
        self.height += i32::from(pushes) - i32::from(pops);
        self.peak = self.peak.max(self.height);
        self
    }

    /// Appends another snippet.
    pub fn append(&mut self, other: &Snippet) -> &mut Snippet {
        self.code.extend_from_slice(&other.code);
        self.peak = self.peak.max(self.height + other.peak);
        self.height += other.height;
        self
    }

    /// `dup`: a second copy of the word on top.
    pub fn dup(&mut self) -> &mut Snippet {
        self.raw(0x59, 1, 2)
    }

    /// `dup_x1`: a copy of the word on top, below the second.
    pub fn dup_x1(&mut self) -> &mut Snippet {
        self.raw(0x5a, 2, 3)
    }

    /// `dup_x2`: a copy of the word on top, below the third.
    pub fn dup_x2(&mut self) -> &mut Snippet {
        self.raw(0x5b, 3, 4)
    }

    /// `dup2`: second copies of the two words on top.
    pub fn dup2(&mut self) -> &mut Snippet {
        self.raw(0x5c, 2, 4)
    }

    /// `dup2_x1`: copies of the two words on top, below the third.
    pub fn dup2_x1(&mut self) -> &mut Snippet {
        self.raw(0x5d, 3, 5)
    }

    /// `dup2_x2`: copies of the two words on top, below the fourth.
    pub fn dup2_x2(&mut self) -> &mut Snippet {
        self.raw(0x5e, 4, 6)
    }

    /// `swap`: exchanges the two words on top.
    pub fn swap(&mut self) -> &mut Snippet {
        self.raw(0x5f, 2, 2)
    }

    /// `pop`: takes the word on top away.
    pub fn pop(&mut self) -> &mut Snippet {
        self.raw(0x57, 1, 0)
    }

    /// `pop2`: takes the two words on top away.
    pub fn pop2(&mut self) -> &mut Snippet {
        self.raw(0x58, 2, 0)
    }

    /// Pushes an `int`, as shortly as it can be said.
    ///
    /// # Errors
    /// When the value needs a constant and there is no room for one.
    pub fn int(
        &mut self,
        pool: &mut PoolEditor<'_>,
        value: i32,
    ) -> Result<&mut Snippet, InstrumentError> {
        if (-1..=5).contains(&value) {
            // `iconst_m1` to `iconst_5` follow each other.
            return Ok(self.raw((value + 3) as u8, 0, 1));
        }
        if let Ok(byte) = i8::try_from(value) {
            return Ok(self.bytes(&[0x10, byte.cast_unsigned()], 0, 1));
        }
        if let Ok(short) = i16::try_from(value) {
            let [high, low] = short.to_be_bytes();
            return Ok(self.bytes(&[0x11, high, low], 0, 1));
        }
        let index = pool.integer(value)?;
        Ok(self.ldc(index))
    }

    /// Pushes a constant of one word: an `int`, a string or, from version 49 on, a class.
    pub fn ldc(&mut self, index: u16) -> &mut Snippet {
        match u8::try_from(index) {
            Ok(short) => self.bytes(&[0x12, short], 0, 1),
            Err(_) => {
                let [high, low] = index.to_be_bytes();
                self.bytes(&[0x13, high, low], 0, 1)
            }
        }
    }

    /// Calls a static method whose parameters take `pops` words and whose result takes `pushes`.
    pub fn invokestatic(&mut self, method: u16, pops: u16, pushes: u16) -> &mut Snippet {
        let [high, low] = method.to_be_bytes();
        self.bytes(&[0xb8, high, low], pops, pushes)
    }

    /// Pushes a local variable.
    pub fn load(&mut self, kind: Kind, slot: u16) -> &mut Snippet {
        self.local(0x15, 0x1a, kind, slot, 0, words(kind))
    }

    /// Puts what is on top of the stack into a local variable.
    pub fn store(&mut self, kind: Kind, slot: u16) -> &mut Snippet {
        self.local(0x36, 0x3b, kind, slot, words(kind), 0)
    }

    fn local(
        &mut self,
        general: u8,
        short: u8,
        kind: Kind,
        slot: u16,
        pops: u16,
        pushes: u16,
    ) -> &mut Snippet {
        let kind = kind_number(kind);
        match u8::try_from(slot) {
            Ok(slot @ 0..=3) => self.raw(short + kind * 4 + slot, pops, pushes),
            Ok(slot) => self.bytes(&[general + kind, slot], pops, pushes),
            Err(_) => {
                let [high, low] = slot.to_be_bytes();
                self.bytes(&[0xc4, general + kind, high, low], pops, pushes)
            }
        }
    }
}

/// The position of a kind among the five variants of `load` and `store`.
fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Int => 0,
        Kind::Long => 1,
        Kind::Float => 2,
        Kind::Double => 3,
        Kind::Ref => 4,
    }
}

fn words(kind: Kind) -> u16 {
    match kind {
        Kind::Int | Kind::Float | Kind::Ref => 1,
        Kind::Long | Kind::Double => 2,
    }
}

/// What is inserted around one instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Runs on every path into the instruction: branches and handlers lead to it.
    pub before: Snippet,
    /// Runs when the instruction has completed and goes on to the next one. It is left out after
    /// instructions that never do: jumps, switches, returns, `athrow`, `jsr` and `ret`.
    pub after: Snippet,
}

/// What is inserted into one method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodEdits {
    /// Runs once a call, before everything else; a loop back to the first instruction does not run
    /// it again.
    pub entry: Snippet,
    /// Runs before each return instruction, after what else is inserted before that instruction, and
    /// in a handler that catches whatever leaves the body after `entry`, and throws it again.
    pub exit: Option<Snippet>,
    /// What is inserted around instructions, by their offsets in the original code.
    pub at: BTreeMap<u32, Around>,
    /// Calls of virtual methods that become calls of static methods, by their offsets: the constant of the static
    /// method, which takes the receiver as its first operand and gives the same result.
    pub static_calls: BTreeMap<u32, u16>,
    /// How many local variable slots the snippets use, above the `max_locals` of the original code.
    pub extra_locals: u16,
}

impl MethodEdits {
    /// Edits that insert nothing.
    #[must_use]
    pub fn new() -> MethodEdits {
        MethodEdits::default()
    }

    /// Whether there is nothing to insert.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entry.is_empty()
            && self.exit.is_none()
            && self.at.values().all(|around| around.before.is_empty() && around.after.is_empty())
            && self.static_calls.is_empty()
            && self.extra_locals == 0
    }

    /// What is to stand before the instruction at an offset, to add to.
    pub fn before(&mut self, offset: u32) -> &mut Snippet {
        &mut self.at.entry(offset).or_default().before
    }

    /// What is to stand after the instruction at an offset, to add to.
    pub fn after(&mut self, offset: u32) -> &mut Snippet {
        &mut self.at.entry(offset).or_default().after
    }
}
