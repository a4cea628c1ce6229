//! A cursor over class bytes whose every failure names a byte.

use std::ops::Range;

use classes::{ReadError, ReadErrorKind};

/// Reads big-endian numbers from a range of the bytes of a class.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, position: 0, end: bytes.len() }
    }

    /// A cursor over a range of the same bytes.
    pub(super) fn between(&self, range: Range<usize>) -> Result<Cursor<'a>, ReadError> {
        if range.start > range.end || range.end > self.bytes.len() {
            return Err(self.fail("a range outside the class"));
        }
        Ok(Cursor { bytes: self.bytes, position: range.start, end: range.end })
    }

    /// Offset of the next byte from the start of the class.
    pub(super) fn offset(&self) -> usize {
        self.position
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.position == self.end
    }

    pub(super) fn fail(&self, what: &str) -> ReadError {
        ReadError::at(ReadErrorKind::Invalid(what.to_owned()), self.position)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], ReadError> {
        let left = self.end - self.position;
        if length > left {
            let kind = ReadErrorKind::Truncated { needed: length - left };
            return Err(ReadError::at(kind, self.position));
        }
        let taken = &self.bytes[self.position..self.position + length];
        self.position += length;
        Ok(taken)
    }

    /// A cursor over the next `length` bytes, which this one skips.
    pub(super) fn part(&mut self, length: usize) -> Result<Cursor<'a>, ReadError> {
        let position = self.position;
        self.take(length)?;
        Ok(Cursor { bytes: self.bytes, position, end: self.position })
    }

    pub(super) fn u8(&mut self) -> Result<u8, ReadError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, ReadError> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn u32(&mut self) -> Result<u32, ReadError> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(super) fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.position..self.end];
        self.position = self.end;
        rest
    }
}
