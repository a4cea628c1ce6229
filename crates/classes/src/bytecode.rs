//! Bytecode: the table of opcodes, and the decoder from code bytes to typed instructions.
//!
//! [`OPCODES`] is the one source of truth for mnemonics and operand layouts; the length of every
//! instruction follows from it. [`Instruction`] groups the two hundred opcodes by what they mean,
//! so that a reader of bytecode writes thirty match arms and no `_`.

use crate::PoolIndex;
use crate::error::{ReadError, ReadErrorKind};

/// How the operands of an opcode are laid out after the opcode byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// No operands.
    None,
    /// One signed byte.
    Byte,
    /// One signed 16-bit number.
    Short,
    /// A local variable slot in one byte, in two when `wide`.
    Local,
    /// `iinc`: slot and increment, one byte each, two when `wide`.
    Increment,
    /// Constant pool index in one byte.
    Pool8,
    /// Constant pool index in two bytes.
    Pool16,
    /// `invokeinterface`: pool index, count, zero.
    Interface,
    /// `invokedynamic`: pool index, zero, zero.
    Dynamic,
    /// `multianewarray`: pool index, number of dimensions.
    MultiArray,
    /// `newarray`: a primitive type code.
    ArrayType,
    /// Branch offset in two bytes.
    Branch16,
    /// Branch offset in four bytes.
    Branch32,
    /// `tableswitch`.
    TableSwitch,
    /// `lookupswitch`.
    LookupSwitch,
    /// `wide`.
    Wide,
}

/// Mnemonic and operand layout of an opcode.
#[derive(Clone, Copy, Debug)]
pub struct Opcode {
    /// The name the JVM specification gives it.
    pub mnemonic: &'static str,
    /// Its operands.
    pub layout: Layout,
}

macro_rules! opcodes {
    ($($layout:ident: [$($mnemonic:tt)+];)+) => {
        /// Every opcode from 0x00 (`nop`) to 0xc9 (`jsr_w`), in order.
        pub static OPCODES: &[Opcode] = &[
            $($(Opcode { mnemonic: stringify!($mnemonic), layout: Layout::$layout },)+)+
        ];
    };
}

opcodes! {
    None: [nop aconst_null iconst_m1 iconst_0 iconst_1 iconst_2 iconst_3 iconst_4 iconst_5
          lconst_0 lconst_1 fconst_0 fconst_1 fconst_2 dconst_0 dconst_1];
    Byte: [bipush];
    Short: [sipush];
    Pool8: [ldc];
    Pool16: [ldc_w ldc2_w];
    Local: [iload lload fload dload aload];
    None: [iload_0 iload_1 iload_2 iload_3 lload_0 lload_1 lload_2 lload_3
          fload_0 fload_1 fload_2 fload_3 dload_0 dload_1 dload_2 dload_3
          aload_0 aload_1 aload_2 aload_3
          iaload laload faload daload aaload baload caload saload];
    Local: [istore lstore fstore dstore astore];
    None: [istore_0 istore_1 istore_2 istore_3 lstore_0 lstore_1 lstore_2 lstore_3
          fstore_0 fstore_1 fstore_2 fstore_3 dstore_0 dstore_1 dstore_2 dstore_3
          astore_0 astore_1 astore_2 astore_3
          iastore lastore fastore dastore aastore bastore castore sastore
          pop pop2 dup dup_x1 dup_x2 dup2 dup2_x1 dup2_x2 swap
          iadd ladd fadd dadd isub lsub fsub dsub imul lmul fmul dmul idiv ldiv fdiv ddiv
          irem lrem frem drem ineg lneg fneg dneg
          ishl lshl ishr lshr iushr lushr iand land ior lor ixor lxor];
    Increment: [iinc];
    None: [i2l i2f i2d l2i l2f l2d f2i f2l f2d d2i d2l d2f i2b i2c i2s
          lcmp fcmpl fcmpg dcmpl dcmpg];
    Branch16: [ifeq ifne iflt ifge ifgt ifle
              if_icmpeq if_icmpne if_icmplt if_icmpge if_icmpgt if_icmple if_acmpeq if_acmpne
              goto jsr];
    Local: [ret];
    TableSwitch: [tableswitch];
    LookupSwitch: [lookupswitch];
    None: [ireturn lreturn freturn dreturn areturn return];
    Pool16: [getstatic putstatic getfield putfield invokevirtual invokespecial invokestatic];
    Interface: [invokeinterface];
    Dynamic: [invokedynamic];
    Pool16: [new];
    ArrayType: [newarray];
    Pool16: [anewarray];
    None: [arraylength athrow];
    Pool16: [checkcast instanceof];
    None: [monitorenter monitorexit];
    Wide: [wide];
    MultiArray: [multianewarray];
    Branch16: [ifnull ifnonnull];
    Branch32: [goto_w jsr_w];
}

/// The computational kind of a value; it decides how many stack words the value takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `int` and the smaller integers, `boolean` and `char`.
    Int,
    /// `long`: two words.
    Long,
    /// `float`.
    Float,
    /// `double`: two words.
    Double,
    /// A reference.
    Ref,
}

impl Kind {
    /// Stack words and local slots this kind takes.
    #[must_use]
    pub fn words(self) -> usize {
        match self {
            Kind::Int | Kind::Float | Kind::Ref => 1,
            Kind::Long | Kind::Double => 2,
        }
    }
}

/// A constant that stands in the instruction itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// `null`.
    Null,
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
}

/// An arithmetic or logic operation of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the operations")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Ushr,
    And,
    Or,
    Xor,
}

/// A comparison that decides a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the comparisons")]
pub enum Condition {
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
}

/// What the second operand of a branch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Against {
    /// An `int` compared with zero.
    Zero,
    /// Two `int`s.
    Int,
    /// Two references.
    Ref,
    /// A reference compared with `null`.
    Null,
}

/// The stack-shuffling instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the mnemonics")]
pub enum StackOp {
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
}

/// How a method is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InvokeKind {
    /// `invokevirtual`: dispatch on the receiver's class.
    Virtual,
    /// `invokespecial`: constructors, `super` calls, private methods of old class files.
    Special,
    /// `invokestatic`.
    Static,
    /// `invokeinterface`.
    Interface,
}

/// One decoded instruction; branch targets are absolute bytecode offsets.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are named after the operands of the specification")]
pub enum Instruction {
    Nop,
    Push(Literal),
    LoadConstant(PoolIndex),
    Load {
        kind: Kind,
        slot: u16,
    },
    Store {
        kind: Kind,
        slot: u16,
    },
    Increment {
        slot: u16,
        by: i16,
    },
    ArrayLoad(Kind),
    ArrayStore(Kind),
    Stack(StackOp),
    Binary {
        op: BinaryOp,
        kind: Kind,
    },
    Negate(Kind),
    /// Conversion to a kind; `i2b`, `i2c` and `i2s` convert to `Int`.
    Convert {
        from: Kind,
        to: Kind,
    },
    /// `lcmp`, `fcmpl`…: leaves -1, 0 or 1.
    Compare(Kind),
    Branch {
        condition: Condition,
        against: Against,
        target: u32,
    },
    Goto(u32),
    Jsr(u32),
    Ret {
        slot: u16,
    },
    Switch {
        default: u32,
        cases: Vec<(i32, u32)>,
    },
    Return(Option<Kind>),
    GetStatic(PoolIndex),
    PutStatic(PoolIndex),
    GetField(PoolIndex),
    PutField(PoolIndex),
    Invoke {
        kind: InvokeKind,
        method: PoolIndex,
    },
    InvokeDynamic(PoolIndex),
    New(PoolIndex),
    NewPrimitiveArray {
        type_code: u8,
    },
    NewReferenceArray(PoolIndex),
    NewMultiArray {
        class: PoolIndex,
        dimensions: u8,
    },
    ArrayLength,
    Throw,
    CheckCast(PoolIndex),
    InstanceOf(PoolIndex),
    MonitorEnter,
    MonitorExit,
}

impl Instruction {
    /// Whether control can go on to the next instruction.
    #[must_use]
    pub fn falls_through(&self) -> bool {
        !matches!(
            self,
            Instruction::Goto(_)
                | Instruction::Ret { .. }
                | Instruction::Switch { .. }
                | Instruction::Return(_)
                | Instruction::Throw
                | Instruction::Jsr(_)
        )
    }

    /// Whether executing it can raise an exception that a handler of the method may catch.
    ///
    /// Errors that can happen anywhere (`StackOverflowError`, `Thread.stop`) do not count.
    #[must_use]
    pub fn may_throw(&self) -> bool {
        match self {
            Instruction::ArrayLoad(_)
            | Instruction::ArrayStore(_)
            | Instruction::GetStatic(_)
            | Instruction::PutStatic(_)
            | Instruction::GetField(_)
            | Instruction::PutField(_)
            | Instruction::Invoke { .. }
            | Instruction::InvokeDynamic(_)
            | Instruction::New(_)
            | Instruction::NewPrimitiveArray { .. }
            | Instruction::NewReferenceArray(_)
            | Instruction::NewMultiArray { .. }
            | Instruction::ArrayLength
            | Instruction::Throw
            | Instruction::CheckCast(_)
            | Instruction::MonitorEnter
            | Instruction::MonitorExit => true,
            Instruction::Binary { op, kind } => {
                matches!(op, BinaryOp::Div | BinaryOp::Rem)
                    && matches!(kind, Kind::Int | Kind::Long)
            }
            Instruction::Nop
            | Instruction::Push(_)
            | Instruction::LoadConstant(_)
            | Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Increment { .. }
            | Instruction::Stack(_)
            | Instruction::Negate(_)
            | Instruction::Convert { .. }
            | Instruction::Compare(_)
            | Instruction::Branch { .. }
            | Instruction::Goto(_)
            | Instruction::Jsr(_)
            | Instruction::Ret { .. }
            | Instruction::Switch { .. }
            | Instruction::Return(_)
            | Instruction::InstanceOf(_) => false,
        }
    }
}

/// Decodes a whole code array: each instruction with its offset, in order.
///
/// # Errors
///
/// The first byte that is no instruction, an instruction that runs over the end, or a branch out
/// of the code. Branches into the middle of an instruction are the caller's to refuse.
pub fn decode_all(code: &[u8]) -> Result<Vec<(u32, Instruction)>, ReadError> {
    let mut decoded = Vec::with_capacity(code.len() / 2);
    let mut at = 0;
    while at < code.len() {
        let (instruction, length) = decode_one(code, at)?;
        decoded.push((at as u32, instruction));
        at += length;
    }
    Ok(decoded)
}

/// Decodes the instruction at an offset, and says how many bytes it takes.
///
/// # Errors
///
/// As [`decode_all`].
pub fn decode_one(code: &[u8], at: usize) -> Result<(Instruction, usize), ReadError> {
    let mut operands = Operands { code, start: at, at: at + 1 };
    let opcode = *code.get(at).ok_or_else(|| operands.truncated(1))?;
    let instruction = instruction(opcode, &mut operands)?;
    Ok((instruction, operands.at - at))
}

/// Reads the operands of one instruction.
struct Operands<'a> {
    code: &'a [u8],
    start: usize,
    at: usize,
}

impl Operands<'_> {
    fn truncated(&self, needed: usize) -> ReadError {
        ReadError::new(
            ReadErrorKind::Truncated { needed },
            self.at,
            format!("instruction at bytecode offset {}", self.start),
        )
    }

    fn invalid(&self, what: String) -> ReadError {
        ReadError::new(
            ReadErrorKind::Invalid(what),
            self.start,
            format!("instruction at bytecode offset {}", self.start),
        )
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let bytes = self
            .code
            .get(self.at..self.at + N)
            .and_then(|bytes| <[u8; N]>::try_from(bytes).ok())
            .ok_or_else(|| self.truncated(N))?;
        self.at += N;
        Ok(bytes)
    }

    fn u8(&mut self) -> Result<u8, ReadError> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, ReadError> {
        self.take().map(u16::from_be_bytes)
    }

    fn i16(&mut self) -> Result<i16, ReadError> {
        self.take().map(i16::from_be_bytes)
    }

    fn i32(&mut self) -> Result<i32, ReadError> {
        self.take().map(i32::from_be_bytes)
    }

    fn pool(&mut self) -> Result<PoolIndex, ReadError> {
        self.u16().map(PoolIndex)
    }

    /// Turns a branch offset into an absolute target inside the code.
    fn target(&self, offset: i32) -> Result<u32, ReadError> {
        let target = self.start as i64 + i64::from(offset);
        if target < 0 || target >= self.code.len() as i64 {
            return Err(self.invalid(format!("branch to {target}, outside the code")));
        }
        Ok(target as u32)
    }

    fn branch16(&mut self) -> Result<u32, ReadError> {
        let offset = self.i16()?;
        self.target(i32::from(offset))
    }

    fn branch32(&mut self) -> Result<u32, ReadError> {
        let offset = self.i32()?;
        self.target(offset)
    }

    /// Skips the padding that aligns a switch's operands to four bytes.
    fn align(&mut self) -> Result<(), ReadError> {
        while !self.at.is_multiple_of(4) {
            self.u8()?;
        }
        Ok(())
    }

    /// Refuses a switch whose case count cannot fit in what is left of the code.
    fn check_cases(&self, count: i64, size: i64) -> Result<(), ReadError> {
        let left = (self.code.len() - self.at.min(self.code.len())) as i64;
        if count < 0 || count * size > left {
            return Err(self.invalid(format!("switch of {count} cases runs over the end")));
        }
        Ok(())
    }
}

const ARRAY_KINDS: [Kind; 8] =
    [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Ref, Kind::Int, Kind::Int, Kind::Int];
const KINDS: [Kind; 5] = [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Ref];
const CONDITIONS: [Condition; 6] =
    [Condition::Eq, Condition::Ne, Condition::Lt, Condition::Ge, Condition::Gt, Condition::Le];
const STACK_OPS: [StackOp; 9] = [
    StackOp::Pop,
    StackOp::Pop2,
    StackOp::Dup,
    StackOp::DupX1,
    StackOp::DupX2,
    StackOp::Dup2,
    StackOp::Dup2X1,
    StackOp::Dup2X2,
    StackOp::Swap,
];
const ARITHMETIC: [BinaryOp; 5] =
    [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem];
const LOGIC: [BinaryOp; 6] =
    [BinaryOp::Shl, BinaryOp::Shr, BinaryOp::Ushr, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor];
/// The conversions `i2l` to `d2f`, in the order of their opcodes.
const CONVERSIONS: [(Kind, Kind); 12] = [
    (Kind::Int, Kind::Long),
    (Kind::Int, Kind::Float),
    (Kind::Int, Kind::Double),
    (Kind::Long, Kind::Int),
    (Kind::Long, Kind::Float),
    (Kind::Long, Kind::Double),
    (Kind::Float, Kind::Int),
    (Kind::Float, Kind::Long),
    (Kind::Float, Kind::Double),
    (Kind::Double, Kind::Int),
    (Kind::Double, Kind::Long),
    (Kind::Double, Kind::Float),
];

fn instruction(opcode: u8, operands: &mut Operands<'_>) -> Result<Instruction, ReadError> {
    use Instruction as I;
    // Position of the opcode in its group of `size` variants that starts at `first`.
    let within = |first: u8| usize::from(opcode - first);
    Ok(match opcode {
        0x00 => I::Nop,
        0x01 => I::Push(Literal::Null),
        0x02..=0x08 => I::Push(Literal::Int(i32::from(opcode) - 3)),
        0x09..=0x0a => I::Push(Literal::Long(i64::from(opcode - 0x09))),
        0x0b..=0x0d => I::Push(Literal::Float(f32::from(opcode - 0x0b))),
        0x0e..=0x0f => I::Push(Literal::Double(f64::from(opcode - 0x0e))),
        0x10 => I::Push(Literal::Int(i32::from(operands.u8()? as i8))),
        0x11 => I::Push(Literal::Int(i32::from(operands.i16()?))),
        0x12 => I::LoadConstant(PoolIndex(u16::from(operands.u8()?))),
        0x13..=0x14 => I::LoadConstant(operands.pool()?),
        0x15..=0x19 => I::Load { kind: KINDS[within(0x15)], slot: u16::from(operands.u8()?) },
        0x1a..=0x2d => {
            I::Load { kind: KINDS[within(0x1a) / 4], slot: u16::from((opcode - 0x1a) % 4) }
        }
        0x2e..=0x35 => I::ArrayLoad(ARRAY_KINDS[within(0x2e)]),
        0x36..=0x3a => I::Store { kind: KINDS[within(0x36)], slot: u16::from(operands.u8()?) },
        0x3b..=0x4e => {
            I::Store { kind: KINDS[within(0x3b) / 4], slot: u16::from((opcode - 0x3b) % 4) }
        }
        0x4f..=0x56 => I::ArrayStore(ARRAY_KINDS[within(0x4f)]),
        0x57..=0x5f => I::Stack(STACK_OPS[within(0x57)]),
        0x60..=0x73 => {
            I::Binary { op: ARITHMETIC[within(0x60) / 4], kind: KINDS[within(0x60) % 4] }
        }
        0x74..=0x77 => I::Negate(KINDS[within(0x74)]),
        0x78..=0x83 => I::Binary { op: LOGIC[within(0x78) / 2], kind: KINDS[within(0x78) % 2] },
        0x84 => {
            I::Increment { slot: u16::from(operands.u8()?), by: i16::from(operands.u8()? as i8) }
        }
        0x85..=0x90 => {
            let (from, to) = CONVERSIONS[within(0x85)];
            I::Convert { from, to }
        }
        0x91..=0x93 => I::Convert { from: Kind::Int, to: Kind::Int },
        0x94 => I::Compare(Kind::Long),
        0x95..=0x96 => I::Compare(Kind::Float),
        0x97..=0x98 => I::Compare(Kind::Double),
        0x99..=0x9e => I::Branch {
            condition: CONDITIONS[within(0x99)],
            against: Against::Zero,
            target: operands.branch16()?,
        },
        0x9f..=0xa4 => I::Branch {
            condition: CONDITIONS[within(0x9f)],
            against: Against::Int,
            target: operands.branch16()?,
        },
        0xa5..=0xa6 => I::Branch {
            condition: CONDITIONS[within(0xa5)],
            against: Against::Ref,
            target: operands.branch16()?,
        },
        0xa7 => I::Goto(operands.branch16()?),
        0xa8 => I::Jsr(operands.branch16()?),
        0xa9 => I::Ret { slot: u16::from(operands.u8()?) },
        0xaa => {
            operands.align()?;
            let default = operands.branch32()?;
            let (low, high) = (operands.i32()?, operands.i32()?);
            operands.check_cases(i64::from(high) - i64::from(low) + 1, 4)?;
            let cases = (low..=high).map(|value| Ok((value, operands.branch32()?)));
            I::Switch { default, cases: cases.collect::<Result<_, ReadError>>()? }
        }
        0xab => {
            operands.align()?;
            let default = operands.branch32()?;
            let count = operands.i32()?;
            operands.check_cases(i64::from(count), 8)?;
            let cases = (0..count).map(|_| Ok((operands.i32()?, operands.branch32()?)));
            I::Switch { default, cases: cases.collect::<Result<_, ReadError>>()? }
        }
        0xac..=0xb0 => I::Return(Some(KINDS[within(0xac)])),
        0xb1 => I::Return(None),
        0xb2 => I::GetStatic(operands.pool()?),
        0xb3 => I::PutStatic(operands.pool()?),
        0xb4 => I::GetField(operands.pool()?),
        0xb5 => I::PutField(operands.pool()?),
        0xb6 => I::Invoke { kind: InvokeKind::Virtual, method: operands.pool()? },
        0xb7 => I::Invoke { kind: InvokeKind::Special, method: operands.pool()? },
        0xb8 => I::Invoke { kind: InvokeKind::Static, method: operands.pool()? },
        0xb9 => {
            let method = operands.pool()?;
            operands.take::<2>()?;
            I::Invoke { kind: InvokeKind::Interface, method }
        }
        0xba => {
            let call = operands.pool()?;
            operands.take::<2>()?;
            I::InvokeDynamic(call)
        }
        0xbb => I::New(operands.pool()?),
        0xbc => I::NewPrimitiveArray { type_code: operands.u8()? },
        0xbd => I::NewReferenceArray(operands.pool()?),
        0xbe => I::ArrayLength,
        0xbf => I::Throw,
        0xc0 => I::CheckCast(operands.pool()?),
        0xc1 => I::InstanceOf(operands.pool()?),
        0xc2 => I::MonitorEnter,
        0xc3 => I::MonitorExit,
        0xc4 => wide(operands)?,
        0xc5 => I::NewMultiArray { class: operands.pool()?, dimensions: operands.u8()? },
        0xc6..=0xc7 => I::Branch {
            condition: CONDITIONS[within(0xc6)],
            against: Against::Null,
            target: operands.branch16()?,
        },
        0xc8 => I::Goto(operands.branch32()?),
        0xc9 => I::Jsr(operands.branch32()?),
        0xca.. => return Err(operands.invalid(format!("unknown opcode {opcode:#04x}"))),
    })
}

fn wide(operands: &mut Operands<'_>) -> Result<Instruction, ReadError> {
    let opcode = operands.u8()?;
    let slot = operands.u16()?;
    Ok(match opcode {
        0x15..=0x19 => Instruction::Load { kind: KINDS[usize::from(opcode - 0x15)], slot },
        0x36..=0x3a => Instruction::Store { kind: KINDS[usize::from(opcode - 0x36)], slot },
        0x84 => Instruction::Increment { slot, by: operands.i16()? },
        0xa9 => Instruction::Ret { slot },
        _ => return Err(operands.invalid(format!("`wide` before opcode {opcode:#04x}"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_covers_every_opcode() {
        assert_eq!(OPCODES.len(), 0xca);
        assert_eq!(OPCODES[0x60].mnemonic, "iadd");
        assert_eq!(OPCODES[0xb1].mnemonic, "return");
        assert_eq!(OPCODES[0xc9].mnemonic, "jsr_w");
    }

    /// The decoder and the table must agree on how long every instruction is.
    #[test]
    fn lengths_follow_from_the_table() {
        for (byte, opcode) in OPCODES.iter().enumerate() {
            let length = match opcode.layout {
                Layout::None => 1,
                Layout::Byte | Layout::Local | Layout::Pool8 | Layout::ArrayType => 2,
                Layout::Short | Layout::Pool16 | Layout::Branch16 | Layout::Increment => 3,
                Layout::MultiArray => 4,
                Layout::Interface | Layout::Dynamic | Layout::Branch32 => 5,
                Layout::TableSwitch | Layout::LookupSwitch | Layout::Wide => continue,
            };
            let mut code = vec![byte as u8, 0, 0, 0, 0, 0, 0, 0];
            code.resize(16, 0);
            let (_, decoded) = decode_one(&code, 0).unwrap_or_else(|error| {
                panic!("{}: {error}", opcode.mnemonic);
            });
            assert_eq!(decoded, length, "{}", opcode.mnemonic);
        }
    }

    #[test]
    fn switches_are_aligned_and_bounded() {
        let code = [0x00, 0xaa, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff];
        let (switch, length) = decode_one(&code, 1).unwrap();
        assert_eq!(switch, Instruction::Switch { default: 2, cases: vec![(5, 0)] });
        assert_eq!(length, 19);
        let mut endless = code;
        endless[12..16].copy_from_slice(&i32::MAX.to_be_bytes());
        assert!(decode_one(&endless, 1).is_err());
    }

    #[test]
    fn branches_out_of_the_code_are_refused() {
        assert!(decode_all(&[0xa7, 0x00, 0x10]).is_err());
        assert!(decode_all(&[0xa7, 0xff, 0xff]).is_err());
    }

    #[test]
    fn wide_instructions_take_wide_operands() {
        let (load, length) = decode_one(&[0xc4, 0x19, 0x01, 0x02], 0).unwrap();
        assert_eq!(load, Instruction::Load { kind: Kind::Ref, slot: 0x0102 });
        assert_eq!(length, 4);
    }
}
