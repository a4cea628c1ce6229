//! Events as bytes.
//!
//! An event is an opcode, whatever differs from before, and its operand. Numbers are written as
//! differences from the last event of the same slot: a thread uses slot `thread % 256`, so that the
//! memory of writer and reader does not grow with the number of threads. All slots are 0 at the
//! beginning of a block; every block can be decoded alone.

use agent_protocol::VariableForm;

use crate::{
    Action, Branch, ClassId, Condition, Epoch, Event, FieldId, Kind, ObjectId, Operand,
    OperandKind, SiteId, ThreadId, Variable,
};

/// Room for the longest event: overlap 7, opcode 2, thread 5, epoch 10, site 5, object 10, field 5.
pub(super) const EVENT_ROOM: usize = 64;

/// Flag in the opcode byte: another thread than that of the event before.
const OTHER_THREAD: u8 = 0x40;

/// Flag in the opcode byte: another epoch than that of the slot.
const OTHER_EPOCH: u8 = 0x80;

/// The bits of the opcode byte that are the opcode.
const OPCODE: u8 = 0x3f;

/// Stands in the opcode byte for the opcodes from here on: a byte follows that says which, counted from this one.
const EXTENDED: u8 = OPCODE;

/// Follows in place of an extended opcode, and is none: the next event overlaps as many events as the number after it
/// says.
const OVERLAPS: u8 = 0xff;

/// How many opcodes there may be. Only a few of the extended ones are in use.
const OPCODES: usize = 128;

/// How many opcodes a kind of events takes: one for each form of its operand.
const fn forms(operand: OperandKind) -> u8 {
    match operand {
        OperandKind::Variable => VariableForm::ALL.len() as u8,
        OperandKind::Branch => 3,
        OperandKind::Condition => 2,
        OperandKind::None
        | OperandKind::Object
        | OperandKind::Thread
        | OperandKind::Class
        | OperandKind::ObjectOfClass => 1,
    }
}

/// Which of the opcodes of its kind an event has.
#[inline]
fn form_of(operand: Operand) -> u8 {
    match operand {
        Operand::Variable(Variable::Field(..)) => VariableForm::Field as u8,
        Operand::Variable(Variable::Static(_)) => VariableForm::Static as u8,
        Operand::Variable(Variable::Element(..)) => VariableForm::Element as u8,
        Operand::Variable(Variable::Contents(_)) => VariableForm::Contents as u8,
        Operand::Branch(Branch::Taken) => TAKEN,
        Operand::Branch(Branch::NotTaken) => NOT_TAKEN,
        Operand::Branch(Branch::Case(_)) => CASE,
        Operand::Condition(Condition { holds, .. }) => u8::from(holds),
        Operand::None
        | Operand::Object(_)
        | Operand::Thread(_)
        | Operand::Class(_)
        | Operand::ObjectOfClass(..) => 0,
    }
}

/// The forms of branches.
const TAKEN: u8 = 0;
const NOT_TAKEN: u8 = 1;
const CASE: u8 = 2;

/// The first opcode of each kind. Opcodes are given out in the order of the table of events: a kind that is appended
/// to the table changes none of those before it.
const FIRST_OPCODES: [u8; Kind::ALL.len()] = {
    let mut first = [0; Kind::ALL.len()];
    let mut opcode = 0;
    let mut number = 0;
    while number < first.len() {
        first[number] = opcode;
        opcode += forms(Kind::ALL[number].operand());
        number += 1;
    }
    assert!((opcode as usize) <= OPCODES, "the opcodes do not fit into their bits");
    first
};

/// The kind and the form that each opcode stands for.
const BY_OPCODE: [Option<(Kind, u8)>; OPCODES] = {
    let mut by_opcode = [None; OPCODES];
    let mut number = 0;
    while number < Kind::ALL.len() {
        let kind = Kind::ALL[number];
        let mut form = 0;
        while form < forms(kind.operand()) {
            by_opcode[(FIRST_OPCODES[number] + form) as usize] = Some((kind, form));
            form += 1;
        }
        number += 1;
    }
    by_opcode
};

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

    /// Writes an event to the beginning of `room`; returns the number of bytes.
    #[inline]
    pub(super) fn encode(&mut self, event: &Event, room: &mut [u8; EVENT_ROOM]) -> usize {
        let (kind, operand) = event.action.parts();
        let mut out = Output { room, at: 0 };
        if event.overlaps != 0 {
            out.byte(EXTENDED);
            out.byte(OVERLAPS);
            out.put(u64::from(event.overlaps));
        }
        let first = out.at;
        let opcode = FIRST_OPCODES[kind as usize] + form_of(operand);
        out.byte(opcode.min(EXTENDED));
        if opcode >= EXTENDED {
            out.byte(opcode - EXTENDED);
        }
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
        match operand {
            Operand::None | Operand::Branch(Branch::Taken | Branch::NotTaken) => {}
            Operand::Variable(variable) => match variable {
                Variable::Field(object, field) => {
                    out.put_object(slot, object);
                    out.put_declared(slot, field.0);
                }
                Variable::Static(field) => out.put_declared(slot, field.0),
                Variable::Element(object, index) => {
                    out.put_object(slot, object);
                    out.put(u64::from(index));
                }
                Variable::Contents(object) => out.put_object(slot, object),
            },
            Operand::Object(object) => out.put_object(slot, object),
            Operand::Thread(other) => out.put(u64::from(other.0)),
            Operand::Class(class) => out.put_declared(slot, class.0),
            Operand::ObjectOfClass(object, class) => {
                out.put_object(slot, object);
                out.put_declared(slot, class.0);
            }
            Operand::Branch(Branch::Case(case)) => out.put_signed(i64::from(case)),
            Operand::Condition(condition) => out.put(u64::from(condition.number)),
        }
        let length = out.at;
        room[first % EVENT_ROOM] |= flags;
        length
    }

    /// Reads an event, or returns what is wrong.
    #[inline]
    pub(super) fn decode(&mut self, input: &mut Input<'_>) -> Result<Event, &'static str> {
        let mut first = input.byte()?;
        let mut overlaps = 0;
        let mut opcode = first & OPCODE;
        if opcode == EXTENDED {
            let mut extension = input.byte()?;
            if extension == OVERLAPS {
                overlaps = input.narrow()?;
                first = input.byte()?;
                opcode = first & OPCODE;
                extension = if opcode == EXTENDED { input.byte()? } else { 0 };
            }
            opcode = opcode.saturating_add(extension);
        }
        if first & OTHER_THREAD != 0 {
            self.thread = moved(self.thread, input.signed()?)?;
        }
        let thread = self.thread;
        let slot = &mut self.slots[thread as usize % SLOTS];
        if first & OTHER_EPOCH != 0 {
            slot.epoch = slot.epoch.wrapping_add_signed(input.signed()?);
        }
        slot.site = moved(slot.site, input.signed()?)?;
        let read_action = READ_ACTION.get(usize::from(opcode)).ok_or(UNKNOWN_OPCODE)?;
        let action = read_action(input, slot)?;
        Ok(Event {
            thread: ThreadId(thread),
            site: SiteId(slot.site),
            epoch: Epoch(slot.epoch),
            action,
            overlaps,
        })
    }
}

const UNKNOWN_OPCODE: &str = "an opcode that is not known";

/// Reads what follows the site of an event.
type ReadAction = fn(&mut Input<'_>, &mut LastValues) -> Result<Action, &'static str>;

/// One function for each opcode: an event takes one jump, and everything else that depends on its kind is known when this
/// is compiled.
const READ_ACTION: [ReadAction; OPCODES] = {
    macro_rules! rows {
        ($($tens:literal)+) => { [$(
            read_action::<{ 8 * $tens }>,
            read_action::<{ 8 * $tens + 1 }>,
            read_action::<{ 8 * $tens + 2 }>,
            read_action::<{ 8 * $tens + 3 }>,
            read_action::<{ 8 * $tens + 4 }>,
            read_action::<{ 8 * $tens + 5 }>,
            read_action::<{ 8 * $tens + 6 }>,
            read_action::<{ 8 * $tens + 7 }>,
        )+] };
    }
    rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
};

fn read_action<const OPCODE: usize>(
    input: &mut Input<'_>,
    slot: &mut LastValues,
) -> Result<Action, &'static str> {
    let row = const {
        match BY_OPCODE[OPCODE] {
            Some((kind, form)) => Some((kind, kind.operand(), form)),
            None => None,
        }
    };
    let (kind, operand, form) = row.ok_or(UNKNOWN_OPCODE)?;
    let operand = match operand {
        OperandKind::None => Operand::None,
        OperandKind::Variable => {
            let form = VariableForm::ALL.get(usize::from(form));
            Operand::Variable(match form.ok_or(UNKNOWN_OPCODE)? {
                VariableForm::Field => {
                    let object = input.object(slot)?;
                    Variable::Field(object, FieldId(input.declared(slot)?))
                }
                VariableForm::Static => Variable::Static(FieldId(input.declared(slot)?)),
                VariableForm::Element => {
                    let object = input.object(slot)?;
                    Variable::Element(object, input.narrow()?)
                }
                VariableForm::Contents => Variable::Contents(input.object(slot)?),
            })
        }
        OperandKind::Object => Operand::Object(input.object(slot)?),
        OperandKind::Thread => Operand::Thread(ThreadId(input.narrow()?)),
        OperandKind::Class => Operand::Class(ClassId(input.declared(slot)?)),
        OperandKind::ObjectOfClass => {
            let object = input.object(slot)?;
            Operand::ObjectOfClass(object, ClassId(input.declared(slot)?))
        }
        OperandKind::Branch => Operand::Branch(match form {
            TAKEN => Branch::Taken,
            NOT_TAKEN => Branch::NotTaken,
            _ => Branch::Case(
                i32::try_from(input.signed()?).map_err(|_| "a case that is too large")?,
            ),
        }),
        OperandKind::Condition => {
            Operand::Condition(Condition { number: input.narrow()?, holds: form == 1 })
        }
    };
    Action::of_kind(kind, operand).ok_or(UNKNOWN_OPCODE)
}

#[inline]
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
    fn byte(&mut self, byte: u8) {
        self.room[self.at % EVENT_ROOM] = byte;
        self.at += 1;
    }

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

/// The low seven bits of eight bytes, joined: first in pairs, then the pairs, then the halves.
#[inline]
fn joined(word: u64) -> u64 {
    let pairs = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let quarters = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    (quarters & 0x0fff_ffff) | (quarters & 0x0fff_ffff_0000_0000) >> 4
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
        if let Some(bytes) = self.bytes.first_chunk::<8>() {
            // The lowest eighth bit that is not set is in the last byte of the number.
            let word = u64::from_le_bytes(*bytes);
            let last = !word & 0x8080_8080_8080_8080;
            if last != 0 {
                self.bytes = &self.bytes[last.trailing_zeros() as usize / 8 + 1..];
                return Ok(joined(word & (last ^ (last - 1))));
            }
        }
        self.number_by_bytes()
    }

    #[cold]
    fn number_by_bytes(&mut self) -> Result<u64, &'static str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_in_the_middle_of_a_payload_and_at_its_end() {
        let shifted = (0..64).flat_map(|bit| [1u64 << bit, (1 << bit) - 1, u64::MAX >> bit]);
        for number in shifted.chain([0x0123_4567_89ab_cdef]) {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let length = bytes.len();
            assert_eq!(Input::new(&bytes).number(), Ok(number));
            for rest in [0, 0x80, 0xff] {
                bytes.resize(length, 0);
                bytes.resize(length + 16, rest);
                let mut input = Input::new(&bytes);
                assert_eq!(input.number(), Ok(number));
                assert_eq!(input.bytes.len(), 16, "{number:x}");
            }
            assert!(Input::new(&bytes[..length - 1]).number().is_err());
        }
        assert!(Input::new(&[0xff; 16]).number().is_err());
        // Zeros that end a number are read, as they always were.
        assert_eq!(Input::new(&[0x85, 0x80, 0, 7, 7, 7, 7, 7, 7]).number(), Ok(5));
    }

    #[test]
    fn opcodes_are_those_of_all_versions_of_the_format() {
        let opcode = |kind: Kind| FIRST_OPCODES[kind as usize];
        assert_eq!(opcode(Kind::Read), 0);
        assert_eq!(opcode(Kind::AtomicUpdate), 24);
        assert_eq!(opcode(Kind::Acquire), 28);
        assert_eq!(opcode(Kind::ClassUsed), 54);
        assert_eq!(opcode(Kind::Branch), 55);
        assert_eq!(opcode(Kind::Missed), 58);
    }
}
