//! Stack maps: the frames that the verifier checks code against.
//!
//! Insertions are straight-line code that leaves the stack as it was, so frames only move. A frame
//! keeps the form it was written in, and takes the longer form of the same content when its distance
//! to the frame before does not fit any more.

use classes::bytecode::Kind;

use crate::error::LeftAloneReason;
use crate::surgery::cursor::Cursor;
use crate::surgery::layout::Layout;
use crate::surgery::pool::PoolEditor;

const TOP: u8 = 0;
const INTEGER: u8 = 1;
const FLOAT: u8 = 2;
const DOUBLE: u8 = 3;
const LONG: u8 = 4;
const OBJECT: u8 = 7;
const UNINITIALIZED: u8 = 8;
const SAME_LOCALS_ONE_STACK_EXTENDED: u8 = 247;
const SAME_EXTENDED: u8 = 251;
const FULL: u8 = 255;

/// The new content of a `StackMapTable`. `thrown` is the class of what the handler of the whole body
/// catches.
pub(super) fn relocate_table(
    mut cursor: Cursor<'_>,
    layout: &Layout<'_>,
    thrown: u16,
    out: &mut Vec<u8>,
) -> Result<(), LeftAloneReason> {
    let count = cursor.u16()?;
    let mut writer = TableWriter::new(out);
    let mut original = None;
    for _ in 0..count {
        let tag = cursor.u8()?;
        let distance = match tag {
            0..=63 => u16::from(tag),
            64..=127 => u16::from(tag - 64),
            128..=246 => return Err(cursor.fail("a stack map frame of unknown kind").into()),
            SAME_LOCALS_ONE_STACK_EXTENDED..=FULL => cursor.u16()?,
        };
        let offset = match original {
            None => u32::from(distance),
            Some(before) => before + u32::from(distance) + 1,
        };
        original = Some(offset);
        let place = layout
            .target(offset)
            .ok_or_else(|| cursor.fail("a stack map frame between instructions"))?;
        let handler_copy = layout.handler_copy(offset);
        let mut last_type = writer.begin(tag, handler_copy.unwrap_or(place));
        match tag {
            64..=127 | SAME_LOCALS_ONE_STACK_EXTENDED => {
                types(&mut cursor, 1, layout, writer.out)?;
            }
            252..=254 => types(&mut cursor, u16::from(tag - 251), layout, writer.out)?,
            FULL => {
                for _ in 0..2 {
                    let count = cursor.u16()?;
                    writer.out.extend(count.to_be_bytes());
                    last_type = writer.out.len();
                    types(&mut cursor, count, layout, writer.out)?;
                }
            }
            _ => {}
        }
        if handler_copy.is_some() {
            // A handler has one word on the stack, and its copy has the same local variables.
            let thrown = writer.out[last_type..].to_vec();
            if !matches!(thrown.as_slice(), [OBJECT, _, _]) {
                return Err(cursor.fail("a handler without an exception on its stack").into());
            }
            writer.begin(64, place);
            writer.out.extend(thrown);
        }
    }
    if !cursor.is_at_end() {
        return Err(cursor.fail("bytes behind the last stack map frame").into());
    }
    if let Some(handler) = layout.exit_handler {
        writer.full_frame_of_handler(handler, thrown);
    }
    writer.finish()
}

/// The content of a `StackMapTable` for code that had none, because it has no branches.
pub(super) fn table_of_handler(handler: u32, thrown: u16, out: &mut Vec<u8>) {
    let mut writer = TableWriter::new(out);
    writer.full_frame_of_handler(handler, thrown);
    // One frame is not too many.
    let _ = writer.finish();
}

/// The new content of a `StackMap`, which preverified classes for small devices have. All its frames
/// are full and name their offsets; nothing else reads it.
pub(super) fn relocate_old_table(
    mut cursor: Cursor<'_>,
    layout: &Layout<'_>,
    thrown: u16,
    out: &mut Vec<u8>,
) -> Result<(), LeftAloneReason> {
    let count = cursor.u16()?;
    let start = out.len();
    out.extend([0, 0]);
    let mut new_count = usize::from(count);
    for _ in 0..count {
        let offset = u32::from(cursor.u16()?);
        let place = layout
            .target(offset)
            .ok_or_else(|| cursor.fail("a stack map frame between instructions"))?;
        let frame = cursor.clone();
        for place in layout.handler_copy(offset).into_iter().chain([place]) {
            new_count += usize::from(place != layout.target(offset).unwrap_or(place));
            cursor = frame.clone();
            push_u16(place, out);
            for _ in 0..2 {
                let count = cursor.u16()?;
                out.extend(count.to_be_bytes());
                types(&mut cursor, count, layout, out)?;
            }
        }
    }
    out.extend_from_slice(cursor.rest());
    if let Some(handler) = layout.exit_handler {
        new_count += 1;
        push_u16(handler, out);
        out.extend([0, 0, 0, 1, OBJECT]);
        out.extend(thrown.to_be_bytes());
    }
    let new_count =
        u16::try_from(new_count).map_err(|_| LeftAloneReason::TableTooLong("StackMap"))?;
    out[start..start + 2].copy_from_slice(&new_count.to_be_bytes());
    Ok(())
}

/// What a frame says of one slot of the local variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot<'a> {
    /// A type without operand; [`TOP`] when anything may be there.
    Simple(u8),
    /// A reference to a class or array of this name.
    Object(Option<&'a [u8]>),
    /// A new object that no constructor has seen yet.
    Uninitialized(u16),
    /// The second word of the value in the slot before.
    SecondWord,
}

impl<'a> Slot<'a> {
    /// Adds a value to slots.
    fn push(self, slots: &mut Vec<Slot<'a>>) {
        slots.push(self);
        if matches!(self, Slot::Simple(LONG | DOUBLE)) {
            slots.push(Slot::SecondWord);
        }
    }
}

/// The frames of the original code, to be asked about handlers.
pub(super) struct HandlerFrames<'a, 'p> {
    /// The content of the `StackMapTable`, if there is one. Code without one may merge types freely.
    pub(super) table: Option<Cursor<'a>>,
    pub(super) pool: &'p PoolEditor<'a>,
    /// What the method begins with.
    pub(super) parameters: Vec<Slot<'a>>,
}

impl<'a> HandlerFrames<'a, '_> {
    /// Whether the local variables at an offset, which the instruction before has just been left for,
    /// are what a handler expects, given that they were when that instruction began. `stored` is
    /// what it has written.
    pub(super) fn fits_handler(
        &self,
        handler: u32,
        offset: u32,
        stored: Option<(u16, Kind)>,
    ) -> bool {
        if self.table.is_none() {
            return true;
        }
        let Some(expected) = self.locals_at(handler) else { return false };
        let is_unknown = |slot: Slot<'_>| slot == Slot::Simple(TOP);
        match self.locals_at(offset) {
            // Paths meet here, and the frame says what they have in common.
            Some(found) => expected.iter().enumerate().all(|(index, expected)| {
                is_unknown(*expected) || found.get(index) == Some(expected)
            }),
            None => stored.is_none_or(|(slot, kind)| {
                let expected = |word: usize| expected.get(usize::from(slot) + word).copied();
                let written = match kind {
                    Kind::Int => Some(Slot::Simple(INTEGER)),
                    Kind::Float => Some(Slot::Simple(FLOAT)),
                    Kind::Long => Some(Slot::Simple(LONG)),
                    Kind::Double => Some(Slot::Simple(DOUBLE)),
                    Kind::Ref => None,
                };
                written.is_some() && expected(0) == written
                    || (0..kind.words()).all(|word| expected(word).is_none_or(is_unknown))
            }),
        }
    }

    /// The local variables in the frame at an offset; nothing when there is none there, or when it
    /// cannot be read.
    fn locals_at(&self, wanted: u32) -> Option<Vec<Slot<'a>>> {
        let mut cursor = self.table.clone()?;
        let mut locals = self.parameters.clone();
        let mut offset = None;
        for _ in 0..cursor.u16().ok()? {
            let tag = cursor.u8().ok()?;
            let distance = match tag {
                0..=63 => u16::from(tag),
                64..=127 => u16::from(tag - 64),
                _ => cursor.u16().ok()?,
            };
            let at = offset.map_or(0, |before: u32| before + 1) + u32::from(distance);
            offset = Some(at);
            match tag {
                64..=127 | SAME_LOCALS_ONE_STACK_EXTENDED => {
                    self.slots(&mut cursor, 1, &mut Vec::new())?;
                }
                248..=250 => {
                    for _ in 0..251 - tag {
                        if locals.pop()? == Slot::SecondWord {
                            locals.pop()?;
                        }
                    }
                }
                252..=254 => self.slots(&mut cursor, u16::from(tag - 251), &mut locals)?,
                FULL => {
                    locals.clear();
                    let count = cursor.u16().ok()?;
                    self.slots(&mut cursor, count, &mut locals)?;
                    let count = cursor.u16().ok()?;
                    self.slots(&mut cursor, count, &mut Vec::new())?;
                }
                _ => {}
            }
            if at >= wanted {
                return (at == wanted).then_some(locals);
            }
        }
        None
    }

    /// Reads verification types.
    fn slots(&self, cursor: &mut Cursor<'_>, count: u16, slots: &mut Vec<Slot<'a>>) -> Option<()> {
        for _ in 0..count {
            let slot = match cursor.u8().ok()? {
                OBJECT => Slot::Object(Some(self.pool.class_name(cursor.u16().ok()?)?)),
                UNINITIALIZED => Slot::Uninitialized(cursor.u16().ok()?),
                simple => Slot::Simple(simple),
            };
            slot.push(slots);
        }
        Some(())
    }
}

/// What a method begins with in its local variables. The class itself is only given where the method
/// has a `this`.
pub(super) fn parameters<'a>(descriptor: &'a [u8], this: Option<Slot<'a>>) -> Vec<Slot<'a>> {
    let mut slots: Vec<Slot<'a>> = this.into_iter().collect();
    let mut rest = descriptor.strip_prefix(b"(").unwrap_or_default();
    while let [first, tail @ ..] = rest {
        let mut length = 1;
        let slot = match first {
            b')' => return slots,
            b'J' => Slot::Simple(LONG),
            b'D' => Slot::Simple(DOUBLE),
            b'F' => Slot::Simple(FLOAT),
            b'L' => {
                let name = tail.split(|byte| *byte == b';').next().unwrap_or_default();
                length = name.len() + 2;
                Slot::Object(Some(name))
            }
            b'[' => {
                let dimensions = rest.iter().take_while(|byte| **byte == b'[').count();
                length = match rest.get(dimensions) {
                    Some(b'L') => rest.iter().take_while(|byte| **byte != b';').count() + 1,
                    _ => dimensions + 1,
                };
                Slot::Object(rest.get(..length))
            }
            _ => Slot::Simple(INTEGER),
        };
        slot.push(&mut slots);
        rest = rest.get(length..).unwrap_or_default();
    }
    slots
}

/// Writes frames one after the other, each with its distance to the one before.
struct TableWriter<'o> {
    out: &'o mut Vec<u8>,
    /// Where the number of frames is.
    start: usize,
    count: usize,
    before: Option<u32>,
}

impl<'o> TableWriter<'o> {
    fn new(out: &'o mut Vec<u8>) -> TableWriter<'o> {
        let start = out.len();
        out.extend([0, 0]);
        TableWriter { out, start, count: 0, before: None }
    }

    /// Begins a frame of the kind of `tag` at a place of the new code. Its types follow where it says.
    fn begin(&mut self, tag: u8, place: u32) -> usize {
        // Places rise with the offsets they come from, and offsets rise from frame to frame.
        let distance = match self.before {
            None => place,
            Some(before) => place.wrapping_sub(before).wrapping_sub(1),
        };
        self.before = Some(place);
        self.count += 1;
        match tag {
            0..=63 if distance < 64 => self.out.push(distance as u8),
            0..=63 => self.extended(SAME_EXTENDED, distance),
            64..=127 if distance < 64 => self.out.push(64 + distance as u8),
            64..=127 => self.extended(SAME_LOCALS_ONE_STACK_EXTENDED, distance),
            _ => self.extended(tag, distance),
        }
        self.out.len()
    }

    fn extended(&mut self, tag: u8, distance: u32) {
        self.out.push(tag);
        push_u16(distance, self.out);
    }

    /// The frame of a handler that catches what leaves the whole body: nothing is known of the local
    /// variables there.
    fn full_frame_of_handler(&mut self, handler: u32, thrown: u16) {
        self.begin(FULL, handler);
        self.out.extend([0, 0, 0, 1, OBJECT]);
        self.out.extend(thrown.to_be_bytes());
    }

    fn finish(self) -> Result<(), LeftAloneReason> {
        let count = u16::try_from(self.count)
            .map_err(|_| LeftAloneReason::TableTooLong("StackMapTable"))?;
        self.out[self.start..self.start + 2].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }
}

/// Copies verification types. One kind of them names a `new` instruction, which may have moved.
fn types(
    cursor: &mut Cursor<'_>,
    count: u16,
    layout: &Layout<'_>,
    out: &mut Vec<u8>,
) -> Result<(), LeftAloneReason> {
    for _ in 0..count {
        let tag = cursor.u8()?;
        out.push(tag);
        match tag {
            OBJECT => out.extend(cursor.u16()?.to_be_bytes()),
            UNINITIALIZED => {
                let offset = cursor.u16()?;
                let place = layout
                    .instruction(u32::from(offset))
                    .ok_or_else(|| cursor.fail("an uninitialized type of no instruction"))?;
                push_u16(place, out);
            }
            0..=6 => {}
            _ => return Err(cursor.fail("a verification type of unknown kind").into()),
        }
    }
    Ok(())
}

/// Offsets of the new code fit into 16 bits: longer code has been refused.
fn push_u16(number: u32, out: &mut Vec<u8>) {
    out.extend((number as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_take_slots() {
        let found = parameters(b"(IJ[[JLa/B;[La/B;FZ)V", None);
        let expected = [
            Slot::Simple(INTEGER),
            Slot::Simple(LONG),
            Slot::SecondWord,
            Slot::Object(Some(b"[[J")),
            Slot::Object(Some(b"a/B")),
            Slot::Object(Some(b"[La/B;")),
            Slot::Simple(FLOAT),
            Slot::Simple(INTEGER),
        ];
        assert_eq!(found, expected);
        assert_eq!(parameters(b"()V", Some(Slot::Simple(6))), [Slot::Simple(6)]);
        assert_eq!(parameters(b"broken", None), []);
        assert_eq!(parameters(b"([[L", None).len(), 1);
    }

    #[test]
    fn local_variables_are_compared_with_those_of_handlers() {
        let pool_bytes = [0, 1];
        let pool = PoolEditor::read(&pool_bytes, &mut Cursor::new(&pool_bytes)).unwrap();
        // At 3 there is an int more; at 9 there is only a long, in its place and the next.
        let table = [0, 2, 252, 0, 3, 1, 255, 0, 5, 0, 2, 0, 4, 0, 1, 1];
        let frames = HandlerFrames {
            table: Some(Cursor::new(&table)),
            pool: &pool,
            parameters: vec![Slot::Simple(FLOAT)],
        };
        let fits = |handler: u32, offset: u32, slot: u16| {
            frames.fits_handler(handler, offset, Some((slot, Kind::Ref)))
        };
        assert!(fits(3, 5, 2) && !fits(3, 5, 1) && !fits(3, 5, 0));
        assert!(fits(9, 5, 0) && !fits(9, 5, 1) && !fits(9, 5, 2) && fits(9, 5, 3));
        assert!(frames.fits_handler(3, 5, Some((1, Kind::Int))));
        assert!(!frames.fits_handler(9, 5, Some((0, Kind::Double))));
        assert!(
            frames.fits_handler(9, 5, Some((1, Kind::Long))) && frames.fits_handler(9, 5, None)
        );
        assert!(fits(3, 3, 0) && !fits(3, 9, 7) && !fits(9, 3, 7) && !fits(5, 9, 7));
    }
}
