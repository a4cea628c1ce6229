//! Events as bytes.
//!
//! An event is an opcode, whatever differs from before, and its operand. Numbers are written as
//! differences from the last event of the same slot: a thread uses slot `thread % 256`, so that the
//! memory of writer and reader does not grow with the number of threads. All slots are 0 at the
//! beginning of a block; every block can be decoded alone.

use crate::kind::{Kind, Operand};
use crate::{Branch, ClassId, Epoch, Event, FieldId, ObjectId, SiteId, ThreadId, Variable};

/// Room for the longest event: opcode 1, thread 5, epoch 10, site 5, object 10, field 5.
pub(super) const EVENT_ROOM: usize = 64;

/// Flag in the opcode byte: another thread than that of the event before.
const OTHER_THREAD: u8 = 0x40;

/// Flag in the opcode byte: another epoch than that of the slot.
const OTHER_EPOCH: u8 = 0x80;

const FORMS_OF_VARIABLES: u8 = 4;
const FIRST_AFTER_VARIABLES: u8 = 7 * FORMS_OF_VARIABLES;
const BRANCH_TAKEN: u8 = FIRST_AFTER_VARIABLES + Kind::Branch as u8 - 7;
const BRANCH_NOT_TAKEN: u8 = BRANCH_TAKEN + 1;
const BRANCH_CASE: u8 = BRANCH_TAKEN + 2;

/// What the last event of a slot had.
#[derive(Clone, Copy, Debug, Default)]
struct LastValues {
    epoch: u64,
    object: u64,
    site: u32,
    /// A field, or a class.
    declared: u32,
}

const SLOTS: usize = 256;

/// What an event is written as a difference from.
#[derive(Debug)]
pub(super) struct CodecState {
    slots: Box<[LastValues; SLOTS]>,
    thread: u32,
}

impl CodecState {
    pub(super) fn new() -> CodecState {
        CodecState { slots: Box::new([LastValues::default(); SLOTS]), thread: 0 }
    }

    /// Another block begins.
    pub(super) fn reset(&mut self) {
        self.slots.fill(LastValues::default());
        self.thread = 0;
    }

    /// Writes an event to the beginning of `room`, and says how many bytes it took.
    #[inline]
    pub(super) fn encode(&mut self, event: &Event, room: &mut [u8; EVENT_ROOM]) -> usize {
        let (kind, operand) = event.action.parts();
        let mut out = Output { room, at: 1 };
        let mut flags = 0;
        let thread = event.thread.0;
        if thread != self.thread {
            flags |= OTHER_THREAD;
            out.put_signed(i64::from(thread) - i64::from(self.thread));
            self.thread = thread;
        }
        let slot = &mut self.slots[thread as usize % SLOTS];
        if event.epoch.0 != slot.epoch {
            flags |= OTHER_EPOCH;
            out.put_signed(event.epoch.0.wrapping_sub(slot.epoch).cast_signed());
            slot.epoch = event.epoch.0;
        }
        out.put_signed(i64::from(event.site.0) - i64::from(slot.site));
        slot.site = event.site.0;
        let opcode = match operand {
            Operand::None => opcode_of(kind),
            Operand::Variable(variable) => {
                let form = match variable {
                    Variable::Field(object, field) => {
                        out.put_object(slot, object);
                        out.put_declared(slot, field.0);
                        0
                    }
                    Variable::Static(field) => {
                        out.put_declared(slot, field.0);
                        1
                    }
                    Variable::Element(object, index) => {
                        out.put_object(slot, object);
                        out.put(u64::from(index));
                        2
                    }
                    Variable::Contents(object) => {
                        out.put_object(slot, object);
                        3
                    }
                };
                kind as u8 * FORMS_OF_VARIABLES + form
            }
            Operand::Object(object) => {
                out.put_object(slot, object);
                opcode_of(kind)
            }
            Operand::Thread(other) => {
                out.put(u64::from(other.0));
                opcode_of(kind)
            }
            Operand::Class(class) => {
                out.put_declared(slot, class.0);
                opcode_of(kind)
            }
            Operand::ObjectOfClass(object, class) => {
                out.put_object(slot, object);
                out.put_declared(slot, class.0);
                opcode_of(kind)
            }
            Operand::Branch(Branch::Taken) => BRANCH_TAKEN,
            Operand::Branch(Branch::NotTaken) => BRANCH_NOT_TAKEN,
            Operand::Branch(Branch::Case(case)) => {
                out.put_signed(i64::from(case));
                BRANCH_CASE
            }
        };
        let length = out.at;
        room[0] = opcode | flags;
        length
    }

    /// Reads an event; says what is wrong if there is none.
    #[inline]
    pub(super) fn decode(&mut self, input: &mut Input<'_>) -> Result<Event, &'static str> {
        let first = input.byte()?;
        if first & OTHER_THREAD != 0 {
            self.thread = moved(self.thread, input.signed()?)?;
        }
        let thread = self.thread;
        let slot = &mut self.slots[thread as usize % SLOTS];
        if first & OTHER_EPOCH != 0 {
            slot.epoch = slot.epoch.wrapping_add_signed(input.signed()?);
        }
        slot.site = moved(slot.site, input.signed()?)?;
        let opcode = first & !(OTHER_THREAD | OTHER_EPOCH);
        let (kind, operand) = if opcode < FIRST_AFTER_VARIABLES {
            let variable = match opcode % FORMS_OF_VARIABLES {
                0 => {
                    let object = input.object(slot)?;
                    Variable::Field(object, FieldId(input.declared(slot)?))
                }
                1 => Variable::Static(FieldId(input.declared(slot)?)),
                2 => {
                    let object = input.object(slot)?;
                    Variable::Element(object, input.narrow()?)
                }
                _ => Variable::Contents(input.object(slot)?),
            };
            (Kind::ALL[usize::from(opcode / FORMS_OF_VARIABLES)], Operand::Variable(variable))
        } else if opcode < BRANCH_TAKEN {
            let kind = Kind::ALL[usize::from(opcode - FIRST_AFTER_VARIABLES + 7)];
            let operand = match kind.operand() {
                crate::OperandKind::None => Operand::None,
                crate::OperandKind::Object => Operand::Object(input.object(slot)?),
                crate::OperandKind::Thread => Operand::Thread(ThreadId(input.narrow()?)),
                crate::OperandKind::Class => Operand::Class(ClassId(input.declared(slot)?)),
                crate::OperandKind::ObjectOfClass => {
                    let object = input.object(slot)?;
                    Operand::ObjectOfClass(object, ClassId(input.declared(slot)?))
                }
                crate::OperandKind::Variable | crate::OperandKind::Branch => {
                    return Err("an opcode that is not known");
                }
            };
            (kind, operand)
        } else {
            let branch = match opcode {
                BRANCH_TAKEN => Branch::Taken,
                BRANCH_NOT_TAKEN => Branch::NotTaken,
                BRANCH_CASE => Branch::Case(
                    i32::try_from(input.signed()?).map_err(|_| "a case that is too large")?,
                ),
                _ => return Err("an opcode that is not known"),
            };
            (Kind::Branch, Operand::Branch(branch))
        };
        let action = kind.action(operand).ok_or("an opcode that is not known")?;
        Ok(Event {
            thread: ThreadId(thread),
            site: SiteId(slot.site),
            epoch: Epoch(slot.epoch),
            action,
        })
    }
}

/// The opcode of a kind that is not done to a variable, and is no branch.
#[inline]
fn opcode_of(kind: Kind) -> u8 {
    kind as u8 + (FIRST_AFTER_VARIABLES - 7)
}

fn moved(from: u32, by: i64) -> Result<u32, &'static str> {
    i64::from(from)
        .checked_add(by)
        .and_then(|number| u32::try_from(number).ok())
        .ok_or("a number that is too large")
}

/// Where an event is written to. It has room for the longest one; the mask spares the check.
struct Output<'a> {
    room: &'a mut [u8; EVENT_ROOM],
    at: usize,
}

impl Output<'_> {
    #[inline]
    fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.room[self.at % EVENT_ROOM] = number as u8 | 0x80;
            self.at += 1;
            number >>= 7;
        }
        self.room[self.at % EVENT_ROOM] = number as u8;
        self.at += 1;
    }

    #[inline]
    fn put_signed(&mut self, number: i64) {
        self.put(zigzag(number));
    }

    #[inline]
    fn put_object(&mut self, slot: &mut LastValues, object: ObjectId) {
        self.put_signed(object.0.wrapping_sub(slot.object).cast_signed());
        slot.object = object.0;
    }

    #[inline]
    fn put_declared(&mut self, slot: &mut LastValues, number: u32) {
        self.put_signed(i64::from(number) - i64::from(slot.declared));
        slot.declared = number;
    }
}

/// Small numbers of either sign become small numbers without one.
#[inline]
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// Appends a number, seven bits a byte, lowest first; all bytes but the last have the eighth set.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A payload that is read.
#[derive(Debug)]
pub(super) struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, &'static str> {
        let (first, rest) = self.bytes.split_first().ok_or("it ends too early")?;
        self.bytes = rest;
        Ok(*first)
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or("it ends too early")?;
        self.bytes = rest;
        Ok(taken)
    }

    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, &'static str> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number that is too large")
    }

    #[inline]
    pub(super) fn narrow(&mut self) -> Result<u32, &'static str> {
        u32::try_from(self.number()?).map_err(|_| "a number that is too large")
    }

    #[inline]
    fn signed(&mut self) -> Result<i64, &'static str> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    #[inline]
    fn object(&mut self, slot: &mut LastValues) -> Result<ObjectId, &'static str> {
        slot.object = slot.object.wrapping_add_signed(self.signed()?);
        Ok(ObjectId(slot.object))
    }

    #[inline]
    fn declared(&mut self, slot: &mut LastValues) -> Result<u32, &'static str> {
        slot.declared = moved(slot.declared, self.signed()?)?;
        Ok(slot.declared)
    }
}
