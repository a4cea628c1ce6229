//! What is known of the local variables, the operand stack and the monitors at one point of a path.

use classes::bytecode::{Kind, StackOp};

use crate::gap::GapReason;
use crate::tree::Operand;

/// A value, as far as a summary can name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A `long` or `double`, which takes two words.
    Wide,
    /// Anything else.
    Unknown,
    Null,
    Int(i32),
    /// What a local variable held where the summary begins: a reference or an `int`.
    Slot(u16),
    /// A reference that a step has put into a register; numbered by the builder.
    Register(u32),
    /// The number in a final field: a position in the builder's list.
    Final(u32),
    /// The answer of an `instanceof`: a position in the builder's list.
    Test(u32),
}

impl Value {
    pub(crate) fn unknown_of(kind: Kind) -> Value {
        match kind.words() {
            2 => Value::Wide,
            _ => Value::Unknown,
        }
    }
}

/// A monitor that a path has entered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeldMonitor {
    pub(crate) lock: Operand,
    /// How many levels there were where it was entered.
    pub(crate) level: usize,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) locals: Vec<Value>,
    pub(crate) stack: Vec<Value>,
    /// The monitors that were entered and not left, the last one last.
    pub(crate) held: Vec<HeldMonitor>,
    /// Monitors of enclosing lists that this path has left, with the offsets where.
    pub(crate) left: Vec<(HeldMonitor, u32)>,
    /// How many monitors it has left that were entered before the summary begins.
    pub(crate) left_before_start: u32,
}

impl Frame {
    pub(crate) fn new(locals: Vec<Value>, stack: Vec<Value>) -> Frame {
        Frame { locals, stack, held: Vec::new(), left: Vec::new(), left_before_start: 0 }
    }

    /// Whether the path is outside of monitors that its list assumes to be held: nothing visible may follow.
    pub(crate) fn is_outside(&self) -> bool {
        !self.left.is_empty() || self.left_before_start > 0
    }

    /// The frame of a `return`: only what is returned counts.
    pub(crate) fn without_locals(mut self) -> Frame {
        self.locals.clear();
        self.forget_monitors();
        let result = self.stack.pop();
        Frame { stack: result.into_iter().collect(), ..self }
    }

    /// For those who only want the values.
    pub(crate) fn forget_monitors(&mut self) {
        self.held.clear();
        self.left.clear();
        self.left_before_start = 0;
    }

    pub(crate) fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    pub(crate) fn pop(&mut self) -> Result<Value, GapReason> {
        self.stack.pop().ok_or(GapReason::Malformed)
    }

    pub(crate) fn load(&self, kind: Kind, slot: u16) -> Result<Value, GapReason> {
        let value = *self.locals.get(usize::from(slot)).ok_or(GapReason::Malformed)?;
        Ok(match kind {
            Kind::Long | Kind::Double => Value::Wide,
            Kind::Float => Value::Unknown,
            Kind::Int | Kind::Ref if value == Value::Wide => Value::Unknown,
            Kind::Int | Kind::Ref => value,
        })
    }

    pub(crate) fn store(&mut self, slot: u16, value: Value) -> Result<(), GapReason> {
        let slot = usize::from(slot);
        *self.locals.get_mut(slot).ok_or(GapReason::Malformed)? = value;
        if value == Value::Wide
            && let Some(second) = self.locals.get_mut(slot + 1)
        {
            *second = Value::Unknown;
        }
        Ok(())
    }

    pub(crate) fn shuffle(&mut self, operation: StackOp) -> Result<(), GapReason> {
        match operation {
            StackOp::Pop => {
                self.pop()?;
            }
            StackOp::Pop2 => {
                self.pop_words(2)?;
            }
            StackOp::Dup => self.duplicate(1, 0)?,
            StackOp::DupX1 => self.duplicate(1, 1)?,
            StackOp::DupX2 => self.duplicate(1, 2)?,
            StackOp::Dup2 => self.duplicate(2, 0)?,
            StackOp::Dup2X1 => self.duplicate(2, 1)?,
            StackOp::Dup2X2 => self.duplicate(2, 2)?,
            StackOp::Swap => {
                let (upper, lower) = (self.pop()?, self.pop()?);
                self.push(upper);
                self.push(lower);
            }
        }
        Ok(())
    }

    /// Copies the uppermost words below those that follow.
    fn duplicate(&mut self, words: usize, below: usize) -> Result<(), GapReason> {
        let upper = self.pop_words(words)?;
        let lower = self.pop_words(below)?;
        self.stack.extend(&upper);
        self.stack.extend(lower);
        self.stack.extend(upper);
        Ok(())
    }

    /// The uppermost values that take this many words, the lowest first.
    fn pop_words(&mut self, words: usize) -> Result<Vec<Value>, GapReason> {
        let mut popped = Vec::new();
        let mut count = 0;
        while count < words {
            let value = self.pop()?;
            count += if value == Value::Wide { 2 } else { 1 };
            popped.push(value);
        }
        popped.reverse();
        Ok(popped)
    }

    /// What is known where paths meet: values that differ are unknown. The monitors must be the same.
    pub(crate) fn merge(frames: Vec<Frame>) -> Result<Option<Frame>, GapReason> {
        let mut frames = frames.into_iter();
        let Some(mut merged) = frames.next() else { return Ok(None) };
        for frame in frames {
            if merged.held != frame.held
                || merged.left.len() != frame.left.len()
                || merged.left_before_start != frame.left_before_start
            {
                return Err(GapReason::UnbalancedMonitors);
            }
            if merged.stack.len() != frame.stack.len() {
                return Err(GapReason::Malformed);
            }
            let pairs = merged.locals.iter_mut().zip(frame.locals);
            for (value, other) in pairs.chain(merged.stack.iter_mut().zip(frame.stack)) {
                if *value != other {
                    *value = Value::Unknown;
                }
            }
        }
        Ok(Some(merged))
    }
}
