//! Where every instruction of a method comes to lie.
//!
//! One walk over the code emits it with the snippets in place and notes the branches; a second walk
//! over the branches fills in their distances. No instruction ever changes its size except for the
//! padding of switches, so one walk is enough; a branch that would have to reach too far is an error.

use classes::bytecode::{Layout as Operands, OPCODES};
use classes::{ReadError, ReadErrorKind};

use crate::error::LeftAloneReason;
use crate::surgery::handler_copies::HandlerCopies;
use crate::surgery::snippet::MethodEdits;

/// The opcodes that this crate must know one by one.
pub(super) mod opcode {
    pub(in crate::surgery) const GOTO: u8 = 0xa7;
    pub(in crate::surgery) const RET: u8 = 0xa9;
    pub(in crate::surgery) const LOOKUPSWITCH: u8 = 0xab;
    pub(in crate::surgery) const IRETURN: u8 = 0xac;
    pub(in crate::surgery) const RETURN: u8 = 0xb1;
    pub(in crate::surgery) const INVOKEVIRTUAL: u8 = 0xb6;
    pub(in crate::surgery) const INVOKESTATIC: u8 = 0xb8;
    pub(in crate::surgery) const ATHROW: u8 = 0xbf;
    pub(in crate::surgery) const MONITORENTER: u8 = 0xc2;
    pub(in crate::surgery) const MONITOREXIT: u8 = 0xc3;
    pub(in crate::surgery) const WIDE: u8 = 0xc4;
    pub(in crate::surgery) const GOTO_W: u8 = 0xc8;
    pub(in crate::surgery) const JSR_W: u8 = 0xc9;
}

/// The longest code that the JVM allows.
const LONGEST_CODE: usize = 65_535;

/// Where an offset of the original code has gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Where the instruction before it ends, or [`Place::INSIDE`] when no instruction begins here.
    /// What is inserted after that instruction comes next, then the copy of a handler.
    end: u32,
    /// Where branches to the instruction go: the first byte that is inserted before it.
    target: u32,
    /// Where the instruction itself is.
    instruction: u32,
}

impl Place {
    const INSIDE: u32 = u32::MAX;
    const UNKNOWN: Place = Place { end: Place::INSIDE, target: 0, instruction: 0 };
}

/// A branch whose distance is not known while it is emitted.
#[derive(Clone, Copy, Debug)]
struct Branch {
    /// The offset of the branching instruction in the original code.
    original: u32,
    /// Its offset in the new code.
    instruction: u32,
    /// Where its operand is in the new code.
    operand: u32,
    /// Where it goes in the original code.
    target: u32,
    is_wide: bool,
}

/// Memory that is used again for every method.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    places: Vec<Place>,
    branches: Vec<Branch>,
}

/// The new code of a method, and the way from old offsets to new ones.
#[derive(Debug)]
pub(super) struct Layout<'s> {
    places: &'s [Place],
    handler_copies: &'s HandlerCopies,
    pub(super) code: Vec<u8>,
    /// Where the original code begins: behind what runs once a call.
    pub(super) body: u32,
    /// Where the handler that runs `exit` begins, if there is one.
    pub(super) exit_handler: Option<u32>,
    /// How many words deeper the stack gets where instructions of the original code run.
    pub(super) extra_stack: i32,
}

impl<'s> Layout<'s> {
    /// Emits the code of a method with everything that is inserted into it.
    pub(super) fn make(
        original: &[u8],
        edits: &MethodEdits,
        handler_copies: &'s HandlerCopies,
        scratch: &'s mut Scratch,
    ) -> Result<Layout<'s>, LeftAloneReason> {
        let Scratch { places, branches } = scratch;
        places.clear();
        places.resize(original.len() + 1, Place::UNKNOWN);
        branches.clear();
        let mut pending = edits.at.iter().peekable();
        let mut code = Vec::with_capacity(original.len() * 2 + 64);
        let mut extra_stack = 0;
        check_balanced(0, edits.entry.net(), "what runs on entry changes the stack")?;
        code.extend_from_slice(edits.entry.code());
        let body = code.len() as u32;
        if let Some(exit) = &edits.exit {
            check_balanced(0, exit.net(), "what runs on exit changes the stack")?;
        }

        places[0].end = body;
        let mut at = 0;
        while at < original.len() {
            let length = instruction_length(original, at)?;
            let opcode = original[at];
            let around = pending.next_if(|(offset, _)| **offset as usize == at);
            let around = around.map(|(_, around)| around);
            if let Some((offset, _)) = pending.peek()
                && (**offset as usize) < at + length
            {
                let what = "no instruction begins here";
                return Err(LeftAloneReason::BadEdit { offset: **offset, what });
            }

            if let Some((before, after)) = around.map(|around| (&around.before, &around.after)) {
                let is_last = !falls_through(original, at);
                let after_code = if is_last { &[] } else { after.code() };
                let after_net = if is_last { 0 } else { after.net() };
                let leaves = (opcode::IRETURN..=opcode::RETURN).contains(&opcode)
                    || opcode == opcode::ATHROW;
                let must_be_even = if is_branch(opcode) || is_last {
                    before.net() != 0 || after_net != 0
                } else {
                    before.net() + after_net != 0
                };
                if must_be_even && !leaves {
                    let what = "what is inserted around the instruction changes the stack";
                    return Err(LeftAloneReason::BadEdit { offset: at as u32, what });
                }
                extra_stack = extra_stack.max(before.stack());
                if !is_last {
                    extra_stack = extra_stack.max(before.net() + after.stack());
                }
                handler_copies.emit(at, original, &mut code);
                places[at].target = code.len() as u32;
                code.extend_from_slice(before.code());
                emit_exit(edits, opcode, before.net(), &mut code, &mut extra_stack);
                places[at].instruction = code.len() as u32;
                emit_instruction(original, at, length, &mut code, branches)?;
                make_static(edits, at, &mut code)?;
                places[at + length].end = code.len() as u32;
                code.extend_from_slice(after_code);
            } else {
                handler_copies.emit(at, original, &mut code);
                places[at].target = code.len() as u32;
                emit_exit(edits, opcode, 0, &mut code, &mut extra_stack);
                places[at].instruction = code.len() as u32;
                emit_instruction(original, at, length, &mut code, branches)?;
                make_static(edits, at, &mut code)?;
                places[at + length].end = code.len() as u32;
            }
            // Tables for debuggers may name any byte, so the insides of instructions have places.
            for inside in 1..length {
                let place = places[at].instruction + inside as u32;
                places[at + inside].target = place;
                places[at + inside].instruction = place;
            }
            at += length;
        }
        if let Some((offset, _)) = pending.next() {
            let what = "there is no code";
            return Err(LeftAloneReason::BadEdit { offset: *offset, what });
        }
        let end = &mut places[original.len()];
        end.target = code.len() as u32;
        end.instruction = code.len() as u32;

        let mut exit_handler = None;
        if let Some(exit) = &edits.exit {
            exit_handler = Some(code.len() as u32);
            code.extend_from_slice(exit.code());
            code.push(opcode::ATHROW);
        }
        if code.len() > LONGEST_CODE {
            return Err(LeftAloneReason::CodeTooLarge(code.len()));
        }
        let layout = Layout { places, handler_copies, code, body, exit_handler, extra_stack };
        layout.with_distances(branches)
    }

    /// Fills in the distances of the branches.
    fn with_distances(mut self, branches: &[Branch]) -> Result<Layout<'s>, LeftAloneReason> {
        for branch in branches {
            let place = self.boundary(branch.target).ok_or_else(|| {
                invalid(branch.original as usize, "a branch into the middle of an instruction")
            })?;
            let distance = i64::from(place.target) - i64::from(branch.instruction);
            let operand = branch.operand as usize;
            if branch.is_wide {
                // The code is shorter than 64 KB, so the distance fits.
                let distance = distance as i32;
                self.code[operand..operand + 4].copy_from_slice(&distance.to_be_bytes());
            } else {
                let distance = i16::try_from(distance)
                    .map_err(|_| LeftAloneReason::BranchTooFar(branch.original))?;
                self.code[operand..operand + 2].copy_from_slice(&distance.to_be_bytes());
            }
        }
        Ok(self)
    }

    fn boundary(&self, offset: u32) -> Option<Place> {
        self.places.get(offset as usize).copied().filter(|place| place.end != Place::INSIDE)
    }

    /// Where branches to an original instruction go; nothing when no instruction begins there.
    pub(super) fn target(&self, offset: u32) -> Option<u32> {
        self.boundary(offset).map(|place| place.target)
    }

    /// Where the instruction before an original offset ends; nothing when no instruction begins
    /// there.
    pub(super) fn end_before(&self, offset: u32) -> Option<u32> {
        self.boundary(offset).map(|place| place.end)
    }

    /// Where the copy of the handler at an original offset begins, if it has one.
    pub(super) fn handler_copy(&self, handler: u32) -> Option<u32> {
        if self.handler_copies.is_copied(handler) { self.end_before(handler) } else { None }
    }

    /// Where an original instruction itself is, as `new` in stack maps and annotations name it.
    pub(super) fn instruction(&self, offset: u32) -> Option<u32> {
        self.places.get(offset as usize).map(|place| place.instruction)
    }

    /// Where something that concerns an original instruction and what is inserted before it begins:
    /// a source line, or the life of a variable. What runs on entry belongs to the first
    /// instruction, and a copy to its handler.
    pub(super) fn begin(&self, offset: u32) -> Option<u32> {
        match offset {
            0 => Some(0),
            _ if self.handler_copies.is_copied(offset) => self.end_before(offset),
            _ => self.places.get(offset as usize).map(|place| place.target),
        }
    }
}

fn check_balanced(offset: u32, net: i32, what: &'static str) -> Result<(), LeftAloneReason> {
    if net == 0 { Ok(()) } else { Err(LeftAloneReason::BadEdit { offset, what }) }
}

/// Turns the call of a virtual method that was emitted last into the call of a static one, where that is wanted. Both
/// instructions have three bytes.
fn make_static(edits: &MethodEdits, at: usize, code: &mut [u8]) -> Result<(), LeftAloneReason> {
    let Some(index) = edits.static_calls.get(&(at as u32)) else { return Ok(()) };
    match code {
        [.., call @ opcode::INVOKEVIRTUAL, high, low] => {
            *call = opcode::INVOKESTATIC;
            [*high, *low] = index.to_be_bytes();
            Ok(())
        }
        _ => {
            let what = "only a call of a virtual method can become one of a static method";
            Err(LeftAloneReason::BadEdit { offset: at as u32, what })
        }
    }
}

/// Emits what runs on exit, if the instruction is a return.
fn emit_exit(
    edits: &MethodEdits,
    opcode: u8,
    height: i32,
    code: &mut Vec<u8>,
    extra_stack: &mut i32,
) {
    if let Some(exit) = &edits.exit
        && (opcode::IRETURN..=opcode::RETURN).contains(&opcode)
    {
        code.extend_from_slice(exit.code());
        *extra_stack = (*extra_stack).max(height + exit.stack());
    }
}

/// Emits one original instruction, with its branch distances left open.
fn emit_instruction(
    original: &[u8],
    at: usize,
    length: usize,
    code: &mut Vec<u8>,
    branches: &mut Vec<Branch>,
) -> Result<(), LeftAloneReason> {
    let place = code.len();
    let instruction = &original[at..at + length];
    let operands = OPCODES.get(usize::from(original[at])).map(|opcode| opcode.layout);
    let mut branch = |operand: usize, distance: i64, is_wide: bool| {
        let target = at as i64 + distance;
        if target < 0 || target >= original.len() as i64 {
            return Err(invalid(at, "a branch out of the code"));
        }
        branches.push(Branch {
            original: at as u32,
            instruction: place as u32,
            operand: operand as u32,
            target: target as u32,
            is_wide,
        });
        Ok(())
    };
    match operands {
        Some(Operands::Branch16) => {
            let distance = i16::from_be_bytes([instruction[1], instruction[2]]);
            branch(place + 1, i64::from(distance), false)?;
            code.extend_from_slice(instruction);
        }
        Some(Operands::Branch32) => {
            branch(place + 1, i64::from(word(instruction, 1)), true)?;
            code.extend_from_slice(instruction);
        }
        Some(switch @ (Operands::TableSwitch | Operands::LookupSwitch)) => {
            let padding = padding(at);
            let new_padding = self::padding(place);
            code.push(instruction[0]);
            if new_padding == padding {
                code.extend_from_slice(&instruction[1..1 + padding]);
            } else {
                code.extend_from_slice(&[0; 3][..new_padding]);
            }
            let old_operands = &instruction[1 + padding..];
            let new_operands = code.len();
            branch(new_operands, i64::from(word(old_operands, 0)), true)?;
            let (first, step) = match switch {
                Operands::TableSwitch => (12, 4),
                _ => (12, 8),
            };
            for operand in (first..old_operands.len()).step_by(step) {
                let distance = i64::from(word(old_operands, operand));
                branch(new_operands + operand, distance, true)?;
            }
            code.extend_from_slice(old_operands);
        }
        _ => code.extend_from_slice(instruction),
    }
    Ok(())
}

/// How many bytes of padding stand between the opcode of a switch and its operands.
fn padding(at: usize) -> usize {
    3 - at % 4
}

/// The number at an offset of bytes that are known to be there.
fn word(bytes: &[u8], at: usize) -> i32 {
    match bytes.get(at..at + 4) {
        Some(&[first, second, third, fourth]) => i32::from_be_bytes([first, second, third, fourth]),
        _ => 0,
    }
}

/// How many bytes the instruction at an offset takes, all of which are there.
pub(super) fn instruction_length(code: &[u8], at: usize) -> Result<usize, LeftAloneReason> {
    let opcode = *code.get(at).ok_or_else(|| invalid(at, "no instruction"))?;
    let operands = OPCODES.get(usize::from(opcode)).ok_or_else(|| invalid(at, "no opcode"))?.layout;
    let fits = |length: usize| at + length <= code.len();
    let length = match operands {
        Operands::None => 1,
        Operands::Byte | Operands::Local | Operands::Pool8 | Operands::ArrayType => 2,
        Operands::Short | Operands::Pool16 | Operands::Branch16 | Operands::Increment => 3,
        Operands::MultiArray => 4,
        Operands::Interface | Operands::Dynamic | Operands::Branch32 => 5,
        Operands::Wide => match code.get(at + 1) {
            Some(0x84) => 6,
            Some(0x15..=0x19 | 0x36..=0x3a | &opcode::RET) => 4,
            _ => return Err(invalid(at, "`wide` before an instruction that it cannot widen")),
        },
        Operands::TableSwitch | Operands::LookupSwitch => {
            let fixed = 1 + padding(at) + if operands == Operands::TableSwitch { 12 } else { 8 };
            if !fits(fixed) {
                return Err(invalid(at, "a switch over the end of the code"));
            }
            let last = i64::from(word(code, at + fixed - 4));
            let (cases, size) = match operands {
                Operands::TableSwitch => (last - i64::from(word(code, at + fixed - 8)) + 1, 4),
                _ => (last, 8),
            };
            if cases < 0 || cases > code.len() as i64 {
                return Err(invalid(at, "a switch over the end of the code"));
            }
            fixed + cases as usize * size
        }
    };
    if fits(length) { Ok(length) } else { Err(invalid(at, "an instruction over the end")) }
}

/// Whether the instruction at an offset can go on to the next one, not counting returns from
/// subroutines.
pub(super) fn falls_through(code: &[u8], at: usize) -> bool {
    match code[at] {
        opcode::GOTO..=opcode::RETURN | opcode::ATHROW | opcode::GOTO_W | opcode::JSR_W => false,
        opcode::WIDE => code.get(at + 1) != Some(&opcode::RET),
        _ => true,
    }
}

/// Whether an opcode may go elsewhere than to the next instruction without leaving the method.
pub(super) fn is_branch(opcode: u8) -> bool {
    matches!(opcode, 0x99..=opcode::LOOKUPSWITCH | 0xc6..=opcode::JSR_W)
}

pub(super) fn invalid(at: usize, what: &str) -> LeftAloneReason {
    let kind = ReadErrorKind::Invalid(what.to_owned());
    ReadError::new(kind, at, format!("the instruction at bytecode offset {at}")).into()
}
