//! The tables of a method that debuggers and reflection read: lines, local variables, annotations.
//!
//! Their rows keep their sizes, so a table is copied and the offsets in it are overwritten.

use crate::error::LeftAloneReason;
use crate::surgery::cursor::Cursor;
use crate::surgery::layout::Layout;

/// How deeply annotations may be nested in annotations.
const DEEPEST_ANNOTATION: u32 = 64;

/// A table that is being copied.
pub(super) struct TableCopy<'a, 'o, 'l> {
    cursor: Cursor<'a>,
    layout: &'l Layout<'l>,
    out: &'o mut Vec<u8>,
}

impl<'a, 'o, 'l> TableCopy<'a, 'o, 'l> {
    pub(super) fn new(
        cursor: Cursor<'a>,
        layout: &'l Layout<'l>,
        out: &'o mut Vec<u8>,
    ) -> TableCopy<'a, 'o, 'l> {
        TableCopy { cursor, layout, out }
    }

    /// Copies `LineNumberTable`.
    pub(super) fn line_numbers(mut self) -> Result<(), LeftAloneReason> {
        for _ in 0..self.number()? {
            self.offset(Layout::begin)?;
            self.bytes(2)?;
        }
        self.rest()
    }

    /// Copies `LocalVariableTable` or `LocalVariableTypeTable`, whose rows look alike.
    pub(super) fn local_variables(mut self) -> Result<(), LeftAloneReason> {
        for _ in 0..self.number()? {
            self.life()?;
            self.bytes(6)?;
        }
        self.rest()
    }

    /// Copies `CharacterRangeTable`, which coverage tools ask javac for.
    pub(super) fn character_ranges(mut self) -> Result<(), LeftAloneReason> {
        for _ in 0..self.number()? {
            self.offset(Layout::begin)?;
            // The last byte of the range, not the first byte behind it.
            self.offset(|layout, last| layout.begin(last + 1).map(|end| end.saturating_sub(1)))?;
            self.bytes(10)?;
        }
        self.rest()
    }

    /// Copies `RuntimeVisibleTypeAnnotations` or `RuntimeInvisibleTypeAnnotations`. `handlers` maps
    /// rows of the exception table to where they are now.
    pub(super) fn type_annotations(mut self, handlers: &[u16]) -> Result<(), LeftAloneReason> {
        for _ in 0..self.number()? {
            let target = self.byte()?;
            match target {
                0x00 | 0x01 | 0x16 => self.bytes(1)?,
                0x10..=0x12 | 0x17 => self.bytes(2)?,
                0x13..=0x15 => {}
                0x40 | 0x41 => {
                    for _ in 0..self.number()? {
                        self.life()?;
                        self.bytes(2)?;
                    }
                }
                0x42 => {
                    let row = self.cursor.u16()?;
                    let moved = handlers.get(usize::from(row)).copied().unwrap_or(row);
                    self.out.extend(moved.to_be_bytes());
                }
                0x43..=0x46 => self.offset(Layout::instruction)?,
                0x47..=0x4b => {
                    self.offset(Layout::instruction)?;
                    self.bytes(1)?;
                }
                _ => return Err(self.cursor.fail("a type annotation of unknown kind").into()),
            }
            let path_length = self.byte()?;
            self.bytes(usize::from(path_length) * 2)?;
            self.annotation(0)?;
        }
        self.rest()
    }

    fn annotation(&mut self, depth: u32) -> Result<(), LeftAloneReason> {
        self.bytes(2)?;
        for _ in 0..self.number()? {
            self.bytes(2)?;
            self.element(depth)?;
        }
        Ok(())
    }

    fn element(&mut self, depth: u32) -> Result<(), LeftAloneReason> {
        if depth > DEEPEST_ANNOTATION {
            return Err(self.cursor.fail("annotations nested too deeply").into());
        }
        match self.byte()? {
            b'e' => self.bytes(4),
            b'@' => self.annotation(depth + 1),
            b'[' => {
                for _ in 0..self.number()? {
                    self.element(depth + 1)?;
                }
                Ok(())
            }
            _ => self.bytes(2),
        }
    }

    /// Copies start and length of a range of code.
    fn life(&mut self) -> Result<(), LeftAloneReason> {
        let start = u32::from(self.cursor.u16()?);
        let length = u32::from(self.cursor.u16()?);
        match (self.layout.begin(start), self.layout.begin(start + length)) {
            (Some(new_start), Some(new_end)) => {
                self.push(new_start);
                self.push(new_end.saturating_sub(new_start));
                Ok(())
            }
            _ => Err(self.cursor.fail("a range outside the code").into()),
        }
    }

    fn offset(
        &mut self,
        place: impl FnOnce(&Layout<'l>, u32) -> Option<u32>,
    ) -> Result<(), LeftAloneReason> {
        let offset = self.cursor.u16()?;
        match place(self.layout, u32::from(offset)) {
            Some(place) => {
                self.push(place);
                Ok(())
            }
            None => Err(self.cursor.fail("an offset outside the code").into()),
        }
    }

    /// Offsets of the new code fit into 16 bits: longer code has been refused.
    fn push(&mut self, number: u32) {
        self.out.extend((number as u16).to_be_bytes());
    }

    fn byte(&mut self) -> Result<u8, LeftAloneReason> {
        let byte = self.cursor.u8()?;
        self.out.push(byte);
        Ok(byte)
    }

    fn number(&mut self) -> Result<u16, LeftAloneReason> {
        let number = self.cursor.u16()?;
        self.out.extend(number.to_be_bytes());
        Ok(number)
    }

    fn bytes(&mut self, length: usize) -> Result<(), LeftAloneReason> {
        self.out.extend_from_slice(self.cursor.take(length)?);
        Ok(())
    }

    fn rest(mut self) -> Result<(), LeftAloneReason> {
        self.out.extend_from_slice(self.cursor.rest());
        Ok(())
    }
}
